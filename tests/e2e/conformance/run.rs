//! Runs a scenario on one side: does what its steps say, and holds what comes of it against them.

use crate::conformance::client::{Client, End, World, kill_fake};
use crate::conformance::headless::Headless;
use crate::conformance::helix::Helix;
use crate::conformance::neovim::Neovim;
use crate::conformance::scenario::{Act, FileIs, Plain, Scenario, ServerKind};
use crate::support::helix_client::HelixVersion;

#[derive(Clone, Copy, Debug)]
pub enum Side {
    Neovim,
    HelixRelease,
    HelixMaster,
    Headless,
}

fn read(name: &str) -> Scenario {
    let file = format!("{}/tests/conformance/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

pub async fn run(name: &str, side: Side) {
    let scenario = read(name);
    let world = World::new(&scenario).await;
    let client: Box<dyn Client> = match side {
        Side::Neovim => Box::new(Neovim::start(&world).await),
        Side::HelixRelease => Box::new(Helix::start(&world, HelixVersion::Release)),
        Side::HelixMaster => Box::new(Helix::start(&world, HelixVersion::Master)),
        Side::Headless => Box::new(Headless::start(&world).await),
    };
    let mut running = Running { world, client, released: 0, about: String::new() };
    for (number, act) in scenario.steps.iter().enumerate() {
        running.about = format!("{name} ({}), step {}: {act:?}", scenario.about, number + 1);
        running.act(act).await;
    }
}

struct Running {
    world: World,
    client: Box<dyn Client>,
    released: usize,
    about: String,
}

impl Running {
    async fn act(&mut self, act: &Act) {
        let about = self.about.clone();
        match act {
            Act::Open(file) => self.client.open(file).await,
            Act::Type(typed) => {
                let text = self.client.text(&typed.file).await;
                assert_eq!(text.matches(&typed.over).count(), 1, "{about}\n{text}");
                self.client.type_text(&typed.file, &typed.over, &typed.text).await;
            }
            Act::Ask(asked) => self.client.ask(asked).await,
            Act::Plan(asked) => self.client.plan(asked).await,
            Act::EditPlan(change) => {
                let text = self.client.plan_text(std::slice::from_ref(&change.old)).await;
                assert_eq!(text.matches(&change.old).count(), 1, "{about}\n{text}");
                self.client.edit_plan(&text.replace(&change.old, &change.new)).await;
            }
            Act::Do(plain) => self.plain(*plain).await,
            Act::Requests(count) => self.world.model.requests_seen(*count).await,
            Act::Ends(wanted) => {
                let End { kind, said } = self.client.end().await;
                assert_eq!(kind, wanted.how, "{about}\n{said}");
                wanted.says.iter().for_each(|part| assert!(said.contains(part.as_str()), "{about}\n{said}"));
            }
            Act::Text(wanted) => check(&about, wanted, &self.client.text(&wanted.file).await),
            Act::Disk(wanted) => check(&about, wanted, &self.world.project.read(&wanted.file)),
            Act::New(wanted) => {
                let mut shown = self.client.introduced(wanted.len()).await;
                shown.sort();
                let fits = shown.len() == wanted.len()
                    && shown.iter().zip(wanted).all(|((at, text), one)| *at == one.at && text.contains(&one.has));
                assert!(fits, "{about}\n{shown:#?}");
            }
            Act::Steps(wanted) => {
                let lines: Vec<String> = wanted.iter().map(|step| format!("- {step}\n")).collect();
                let text = self.client.plan_text(&lines).await;
                let shown: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("- ")).collect();
                assert_eq!(shown, *wanted, "{about}\n{text}");
            }
            Act::Told(wanted) => {
                let requests = self.world.model.requests();
                let request = requests.get(wanted.request - 1);
                let told = request.unwrap_or_else(|| panic!("{about}: {} requests", requests.len())).said_by("user");
                let file =
                    FileIs { file: String::new(), is: None, has: wanted.has.clone(), lacks: wanted.lacks.clone() };
                check(&about, &file, told);
            }
        }
    }

    async fn plain(&mut self, plain: Plain) {
        match plain {
            Plain::Approve => self.client.approve(false).await,
            Plain::Step => self.client.approve(true).await,
            Plain::Undo => self.client.undo().await,
            Plain::Redo => self.client.redo().await,
            Plain::Stop => self.client.stop().await,
            Plain::SaveAll => self.client.save_all().await,
            Plain::KillServer => {
                assert_eq!(self.world.kind, ServerKind::Fake, "{}", self.about);
                kill_fake(&self.world.project);
            }
            Plain::Release => {
                self.world.held[self.released].notify_one();
                self.released += 1;
            }
        }
    }
}

fn check(about: &str, wanted: &FileIs, text: &str) {
    if let Some(is) = &wanted.is {
        assert_eq!(text, is, "{about}");
    }
    wanted.has.iter().for_each(|part| assert!(text.contains(part.as_str()), "{about}: no {part:?}\n{text}"));
    wanted.lacks.iter().for_each(|part| assert!(!text.contains(part.as_str()), "{about}: {part:?}\n{text}"));
}
