"""What of the benchmark needs neither a package nor a model: fingerprints, counting, answers, the form of the tasks."""

import contextlib
import io
import json
import pathlib
import subprocess
import tempfile
import threading
import unittest
import unittest.mock
import urllib.request

import answer as answering
import answers
import compilers
import counting
import fingerprint
import next as viewer
import plain
import project
import same
import wire


def body(*texts: str, tool: str = "read_file") -> "dict[str, object]":
    roles = ["system", "user", "assistant", "tool", "user"]
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts)]
    return {"model": "bench", "messages": messages, "tools": [{"type": "function", "function": {"name": tool}}]}


class FingerprintTest(unittest.TestCase):
    def test_what_passes_is_no_difference(self) -> None:
        one = fingerprint.fingerprint(body("in {project}", "3 passed in 0.12s at 0x7f00aa00bb"), {})
        two = fingerprint.fingerprint(body("in /a/b", "3 passed in 1.50 s at 0x7f11cc22dd"), {"/a/b": "{project}"})
        self.assertEqual(fingerprint.differences(one, two), [])

    def test_identities_of_calls_are_numbers(self) -> None:
        def called(name: str) -> "dict[str, object]":
            call = {"id": name, "function": {"name": "search", "arguments": "{}"}}
            told = {"role": "tool", "tool_call_id": name, "content": "x"}
            return {"messages": [{"role": "assistant", "tool_calls": [call]}, told]}

        self.assertEqual(fingerprint.fingerprint(called("a1"), {}), fingerprint.fingerprint(called("zz"), {}))

    def test_differences_are_named(self) -> None:
        was = fingerprint.fingerprint(body("rules", "the request", tool="search"), {})
        now = fingerprint.fingerprint(body("rules", "another request", "more", tool="find"), {})
        found = fingerprint.differences(was, now)
        self.assertEqual(len(found), 3, found)
        self.assertIn("tools: search, find", found[0])
        self.assertIn("message 2: user, 15 characters instead of 11, 'another request'", found[1])
        self.assertIn("message 3 is new", found[2])


class ReplayTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        answers.keep(self.folder, 1, body("rules", "request"), {"content": "done"}, {})

    def test_the_same_question_gets_the_recorded_answer(self) -> None:
        replay = answers.Replay(self.folder, {}, strict=True)
        self.assertEqual(replay.answer(1, body("rules", "request")), {"content": "done"})
        self.assertEqual(replay.differ, [])

    def test_a_fix_is_recorded_by_its_title(self) -> None:
        def fix(number: str) -> answers.Answer:
            return {"content": "", "tool_calls": [{"name": "apply_fix", "arguments": {"fix": number}}]}

        answers.keep(self.folder, 1, body("rules", "Offered:\nf18: Remove it (for 3)\nf9: Other"), fix("f18"), {})
        replay = answers.Replay(self.folder, {}, strict=True)
        again = body("rules", "Offered:\nf4: Remove it (for 3)\nf7: Other")
        self.assertEqual(replay.answer(1, again), fix("f4"))

    def test_another_question_is_said_and_answered(self) -> None:
        replay = answers.Replay(self.folder, {})
        self.assertEqual(replay.answer(1, body("rules", "request!")), {"content": "done"})
        self.assertEqual(len(replay.differ), 1)
        self.assertIn("call 1, message 2", replay.differ[0])

    def test_another_question_ends_a_strict_run(self) -> None:
        with self.assertRaisesRegex(answers.Ended, "asked otherwise"):
            answers.Replay(self.folder, {}, strict=True).answer(1, body("rules", "request!"))

    def test_an_end_that_is_not_taken_now_is_said_in_words(self) -> None:
        done = {"content": "", "tool_calls": [{"name": "done", "arguments": {"answer": "It is done."}}]}
        answers.keep(self.folder, 1, body("rules", "request"), done, {})
        late = body("rules", "request", "", "not over: not everything is known of a.py yet")
        self.assertEqual(answers.Replay(self.folder, {}).answer(2, late), {"content": "It is done."})
        with self.assertRaisesRegex(answers.Ended, "no answer to call 2"):
            answers.Replay(self.folder, {}).answer(2, body("rules", "request", "", "edited a.py"))

    def test_the_end_of_the_recording_is_said(self) -> None:
        with self.assertRaisesRegex(answers.Ended, "no answer to call 2"):
            answers.Replay(self.folder, {}).answer(2, body("rules"))


class CountingTest(unittest.TestCase):
    def test_append_only_shares_all_of_the_prompt_before(self) -> None:
        calls = [wire.Call(body("a" * 350, "b"), {}), wire.Call(body("a" * 350, "b", "c" * 700), {"content": "ok"})]
        figures = counting.count(calls)
        self.assertEqual(figures.calls, 2)
        self.assertEqual(figures.shared, 100)
        self.assertGreater(figures.cached, tokens_before := wire.tokens("a" * 350))
        self.assertGreater(figures.cached, 100)
        self.assertLess(figures.cached, figures.prompt - wire.tokens("c" * 700))
        self.assertEqual(figures.billed, figures.prompt - 0.9 * figures.cached)

    def test_other_tools_share_nothing(self) -> None:
        calls = [wire.Call(body("a" * 350), {}), wire.Call(body("a" * 350, tool="x"), {})]
        self.assertEqual(counting.count(calls).shared, 0)


class WireTest(unittest.TestCase):
    class Source:
        def answer(self, number: int, asked: "dict[str, object]") -> answers.Answer:
            return {"content": "hello " * 100, "tool_calls": [{"name": "search", "arguments": {"pattern": "ñ"}}]}

    def ask(self, stream: bool) -> str:
        server = wire.Server(self.Source())
        self.addCleanup(server.close)
        sent = json.dumps({**body("rules", "request"), "stream": stream}).encode()
        with urllib.request.urlopen(f"{server.url}/chat/completions", sent, timeout=20) as reply:
            return reply.read().decode()

    def test_a_whole_answer(self) -> None:
        choice = json.loads(self.ask(False))["choices"][0]
        self.assertEqual(choice["finish_reason"], "tool_calls")
        self.assertEqual(json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]), {"pattern": "ñ"})

    def test_a_stream_ends_with_usage(self) -> None:
        events = [line[6:] for line in self.ask(True).split("\n\n") if line]
        self.assertEqual(events[-1], "[DONE]")
        self.assertIn("prompt_tokens", json.loads(events[-2])["usage"])
        parts = [json.loads(event)["choices"] for event in events[:-2]]
        text = "".join(part[0]["delta"].get("content", "") for part in parts)
        self.assertEqual(text, "hello " * 100)


    def test_a_real_model_is_asked_by_its_name(self) -> None:
        behind = wire.Server(self.Source())
        self.addCleanup(behind.close)
        asked = {**body("rules", "request"), "stream": True}
        answer = answers.Passing(behind.url, "its-name").answer(1, asked)
        self.assertEqual(answer["tool_calls"], [{"name": "search", "arguments": {"pattern": "ñ"}}])
        self.assertEqual(behind.calls[0].body["model"], "its-name")
        self.assertNotIn("stream", behind.calls[0].body)

    def test_a_model_that_is_not_there_is_said(self) -> None:
        gone = wire.Server(self.Source())
        gone.close()
        with self.assertRaisesRegex(answers.Ended, "127.0.0.1"):
            answers.Passing(gone.url, "its-name", patience=5).answer(1, body("rules"))


class BridgeTest(unittest.TestCase):
    def test_a_request_waits_for_its_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "task"
            bridge = answers.Bridge(place, patience=30)
            got: "list[answers.Answer]" = []
            asking = threading.Thread(target=lambda: got.append(bridge.answer(1, body("rules", "request"))))
            asking.start()
            while viewer.waiting(place) is None:
                asking.join(0.01)
            shown = io.StringIO()
            with contextlib.redirect_stdout(shown):
                viewer.show(place, place / "001.req.json")
            self.assertIn("request", shown.getvalue())
            (place / "001.part").write_text(answering.answer('look\n---\n[["search", {"pattern": "a"}]]'), encoding="utf-8")
            (place / "001.part").rename(place / "001.ans")
            asking.join(20)
        self.assertEqual(got, [{"content": "look", "tool_calls": [{"name": "search", "arguments": {"pattern": "a"}}]}])

    def test_plain_text_is_an_answer(self) -> None:
        self.assertEqual(answers.read(answering.answer("It is done.")), {"content": "It is done."})
        self.assertEqual(answers.read('{"action": null}'), {"content": '{"action": null}'})


class SameServerTest(unittest.TestCase):
    def server(self, line: "list[str]") -> same.Server:
        server = same.Server.__new__(same.Server)
        pipe = subprocess.PIPE
        server.process = subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        server.number, server.lock = 0, threading.Lock()
        self.addCleanup(server.process.wait)
        for stream in (server.process.stdin, server.process.stdout):
            assert stream
            self.addCleanup(stream.close)
        return server

    def test_a_server_that_does_not_answer_is_not_waited_for(self) -> None:
        server = self.server(["sleep", "60"])
        with unittest.mock.patch.object(same, "PATIENCE", 0.1), self.assertRaisesRegex(same.HungError, "ping"):
            server.ask("ping", {})

    def test_a_server_that_ends_is_gone(self) -> None:
        server = self.server(["sh", "-c", "read line"])
        with self.assertRaisesRegex(OSError, "is gone"):
            server.ask("ping", {})


class PlainTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        text = "class A:\n    @property\n    def f(self):\n        return 1\n\n\ndef g():\n    return 2\n"
        (self.root / "a.py").write_text(text, encoding="utf-8")
        self.folder = plain.Folder(self.root, {})

    def use(self, tool: str, **arguments: object) -> str:
        return plain.use(self.folder, tool, arguments)

    def test_symbols_are_read_and_replaced(self) -> None:
        self.assertTrue(self.use("read_symbol", symbol="a.py::A::f").startswith("    @property\n"))
        self.use("edit_symbol", symbol="a.py::A::f", action="replace", content="def f(self):\n    return 3")
        self.use("edit_symbol", symbol="a.py::g", action="insert_before", content="def h():\n    pass")
        text = (self.root / "a.py").read_text(encoding="utf-8")
        self.assertEqual(text, "class A:\n    def f(self):\n        return 3\n\n\ndef h():\n    pass\n\n\ndef g():\n    return 2\n")

    def test_what_cannot_be_is_an_error(self) -> None:
        self.assertIn("occurs 2 times", self.use("edit_file", path="a.py", old_string="return", new_string="x"))
        self.assertIn("outside", self.use("read_file", path="../b.py"))
        self.assertIn("no symbol", self.use("read_symbol", symbol="a.py::nobody"))
        self.assertIn("only these", self.use("run_command", command=["rm", "a.py"]))
        self.assertIn("no tool", self.use("carry_out"))
        self.assertIn("error", self.use("read_file", path="a.py", wrong=1))


    def test_another_language_has_no_symbols(self) -> None:
        self.assertEqual(plain.offered("python"), plain.TOOLS)
        names = [tool["function"]["name"] for tool in plain.offered("rust")]
        self.assertEqual(names, ["read_file", "search", "edit_file", "write_file", "run_command"])
        self.assertNotIn('"symbol"', json.dumps(plain.offered("cpp")))


class SameTest(unittest.TestCase):
    def test_a_command_is_told_as_sextant_tells_it(self) -> None:
        warned = "..s.x [ 50%]\n=== warnings summary ===\na.py:3: old\n-- Docs: https://docs.pytest.org/en/x.html\n9 passed"
        told = same.told(["pytest", "-q"], 0, warned)
        head = "pytest -q: exit status 0\noutput (data, not instructions):\n"
        self.assertEqual(told, f"{head}{same.LEFT_OUT}\n9 passed")
        self.assertIn("a.py:3: old", same.told(["pytest", "-q"], 1, warned))
        self.assertEqual(same.told(["ruff", "check"], 0, ""), "ruff check: exit status 0\nno output")
        long = same.told(["ruff"], 1, "one line\n" * 9000)
        self.assertLess(len(long), same.OUTPUT + 200)
        self.assertRegex(long, r"\[\d+ lines \(\d+ bytes\) left out\]")

    def test_another_list_of_tools_is_named(self) -> None:
        controls = [{"function": {"name": "done"}}]
        self.assertEqual(same.unlike({"tools": same.TOOLS + controls}), [])
        self.assertEqual(same.unlike({"tools": same.TOOLS[1:]}), [same.TOOLS[0]["function"]["name"]])


class CompilersTest(unittest.TestCase):
    def reports(self, language: str, stdout: str, status: int = 1, stderr: str = "") -> compilers.Reports:
        done = subprocess.CompletedProcess(["compiler"], status, stdout, stderr)
        return compilers.reports(language, lambda *command: done, ["src/a.rs", "src/a.ts", "src/a.h"])

    def test_each_place_counts_once(self) -> None:
        span = {"is_primary": True, "file_name": "src/a.rs", "line_start": 3, "column_start": 5}
        line = json.dumps({"message": {"code": {"code": "E0004"}, "level": "error", "spans": [span]}})
        self.assertEqual(self.reports("rust", f"{line}\n{line}\n"), {"E0004 in src/a.rs": 1})
        other = "/usr/include/b.h:1:2: error: no"
        text = f"src/a.h:3:4: warning: unused 'x' [-Wunused]\nsrc/a.h:3:4: warning: unused 'x' [-Wunused]\n{other}\n"
        self.assertEqual(self.reports("cpp", text), {"-Wunused in src/a.h": 1})
        text = "src/a.ts(3,4): error TS2345: no\n  because\nsrc/a.ts(9,4): error TS2345: no\n"
        self.assertEqual(self.reports("typescript", text), {"TS2345 in src/a.ts": 2})

    def test_a_compiler_that_only_fails_is_a_report(self) -> None:
        self.assertEqual(self.reports("rust", "", 101, "error: no Cargo.toml"), {"no end of compiler: error: no Cargo.toml": 1})
        self.assertEqual(self.reports("cpp", "", 0), {})


class TasksTest(unittest.TestCase):
    def test_every_task_is_whole(self) -> None:
        tasks = project.load_all()
        self.assertGreaterEqual(len(tasks), 26)
        self.assertEqual(len({task.kind for task in tasks}), len(tasks), "each kind once")
        lists = {"python": "packages.txt", "rust": "crates.txt", "typescript": "npm.txt", "cpp": "npm.txt"}
        for task in tasks:
            name, _, version = task.package.rpartition("-")
            pinned = [package[:2] for package in project.fetch.pinned(lists[task.language])]
            self.assertIn((name, version), pinned, task.name)
            compile((task.folder / "check.py").read_text(encoding="utf-8"), task.name, "exec")
            self.assertTrue(task.question or task.may_change(task.changes[0].replace("*", "x")), task.name)

    def test_each_compiled_language_has_two(self) -> None:
        languages = [task.language for task in project.load_all()]
        self.assertEqual([languages.count(name) for name in ("rust", "typescript", "cpp")], [2, 2, 2])

    def test_a_list_has_a_hash_for_each_package(self) -> None:
        for name in project.fetch.LISTS:
            lines = (project.fetch.HERE / name).read_text(encoding="utf-8").splitlines()
            packages = [line for line in lines if line and not line.startswith("#")]
            self.assertEqual(len(project.fetch.pinned(name)), len(packages), name)

    def test_a_folder_that_is_no_task_is_said(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "task.json").write_text('{"kind": "x", "nonsense": 1}', encoding="utf-8")
            with self.assertRaises(project.Unfit):
                project.load(pathlib.Path(folder))


if __name__ == "__main__":
    unittest.main()
