"""The figures of a run as text: a line a task while it runs, both loops side by side at the end."""

import typing

import counting

if typing.TYPE_CHECKING:
    from run import Row

HEAD = f"{'':24}{'done':>5}{'calls':>7}{'prompt':>9}{'cached':>9}{'schema':>8}{'answer':>8}{'shared':>8}{'billed':>9}"


def percent(value: "float | None") -> str:
    return "-" if value is None else f"{value:.0f} %"


def cells(figures: counting.Figures) -> str:
    parts = f"{figures.calls:>7}{figures.prompt:>9}{figures.cached:>9}{figures.schema:>8}{figures.answer:>8}"
    return parts + f"{percent(figures.shared):>8}{figures.billed:>9.0f}"


def line(row: "Row") -> "list[str]":
    word = "nothing recorded" if row.missing else "done" if row.done else "NOT DONE"
    says = "" if row.says is None or row.says == row.done else f", sextant says {'ok' if row.says else 'not ok'}"
    busy = row.seconds - row.waited
    out = [f"{row.loop:8} {row.task:24} {word}{says}, {row.figures.calls} calls, {busy:.0f} s beside the answers"]
    out += [f"         {what}" for what in (row.undone if not row.missing else []) + row.trouble]
    return out + [f"         asked otherwise: {what}" for what in row.differ[:6]]


def totals(rows: "list[Row]", loops: "list[str]") -> "dict[str, typing.Any]":
    """Of each loop the sums, over the tasks that every loop has gone through; and the ratios of the first to the others."""
    ran = {loop: {row.task: row for row in rows if row.loop == loop and not row.missing} for loop in loops}
    both = set.intersection(*(set(of) for of in ran.values())) if ran else set()
    out: "dict[str, typing.Any]" = {"tasks": len(both)}
    sums = {}
    for loop in loops:
        sums[loop] = counting.Figures()
        for task in both:
            sums[loop].add(ran[loop][task].figures)
        out[loop] = {**sums[loop].told(), "done": sum(ran[loop][task].done for task in both)}
    for other in loops[1:] if both else []:
        names = ("calls", "prompt", "answer", "schema", "billed")
        parts = {name: (getattr(sums[loops[0]], name), getattr(sums[other], name)) for name in names}
        out[f"to {other}"] = {name: round(a / b, 3) if b else None for name, (a, b) in parts.items()}
    return out


def text(rows: "list[Row]", loops: "list[str]") -> "list[str]":
    out = []
    told = totals(rows, loops)
    for loop in loops:
        ran = [row for row in rows if row.loop == loop and not row.missing]
        if not ran:
            continue
        out += [f"{loop}", HEAD]
        out += [f"{row.task:24}{'yes' if row.done else 'NO':>5}{cells(row.figures)}" for row in ran]
        figures = counting.Figures()
        for row in ran:
            figures.add(row.figures)
        out += [f"{'all':24}{f'{sum(row.done for row in ran)}/{len(ran)}':>5}{cells(figures)}", ""]
    for other in [other for other in loops[1:] if f"to {other}" in told]:
        ratios = ", ".join(f"{name} {value}" for name, value in told[f"to {other}"].items())
        out += [f"{loops[0]} to {other}, over the {told['tasks']} tasks that all went through: {ratios}"]
    out += ["tokens are bytes / 3.5; cached: what begins as the call before, tools included, at a tenth when billed; shared: of the messages alone"]
    return out
