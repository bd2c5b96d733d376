// The main flows of the official TypeScript client, unmodified, against the URL given: node flows.mjs URL BANK.
// Each step prints one JSON line {"step", "holds"}; a step that throws ends the run with its name.
import { createRequire } from "node:module";

const [url, bank] = process.argv.slice(2);
const { HindsightClient } = createRequire(process.env.CLIENT_FROM)("@vectorize-io/hindsight-client");
const client = new HindsightClient({ baseUrl: url });

const until = async (look, ends = 20_000) => {
  const started = Date.now();
  for (;;) {
    const found = await look();
    if (found || Date.now() - started > ends) return found;
    await new Promise((wake) => setTimeout(wake, 50));
  }
};

let directive, page, folder;
const steps = {
  version: async () => (await client.getVersion()).api_version.length > 0,
  createBank: async () => (await client.createBank(bank, { name: "Bees", mission: "Know the hives" })).bank_id === bank,
  setMission: async () => (await client.setMission(bank, "Know who keeps which hive")).mission === "Know who keeps which hive",
  profile: async () => (await client.getBankProfile(bank)).disposition.empathy === 3,
  updateConfig: async () => {
    const changed = await client.updateBankConfig(bank, { observationsMission: "One belief a person" });
    return changed.overrides.observations_mission === "One belief a person";
  },
  config: async () => (await client.getBankConfig(bank)).config.observations_mission === "One belief a person",
  resetConfig: async () => (await client.resetBankConfig(bank)).overrides.observations_mission === undefined,
  retain: async () => {
    const kept = await client.retain(bank, "Ada keeps bees in Lyon.", {
      tags: ["hobby"], documentId: "notes/ada", metadata: { origin: "talk" }, timestamp: new Date("2026-11-30T08:00:00Z"),
    });
    return kept.success && kept.items_count === 1;
  },
  retainBatch: async () => {
    const kept = await client.retainBatch(bank, [{ content: "Bo mends bicycles in Ghent." }, { content: "Cy sails." }]);
    return kept.success && kept.items_count === 2;
  },
  retainAsync: async () => {
    const accepted = await client.retain(bank, "Dee paints boats.", { async: true });
    await until(async () => (await client.listMemories(bank, { q: "Dee" })).total > 0);
    return accepted.async && (await client.listMemories(bank, { q: "Dee" })).total === 1;
  },
  retainFiles: async () => {
    const file = new File(["Eve grows lemons in Jaffa."], "eve.txt", { type: "text/plain" });
    const accepted = await client.retainFiles(bank, [file], { context: "a letter" });
    await until(async () => (await client.listMemories(bank, { q: "Eve" })).total > 0);
    return accepted.operation_ids.length === 1 && (await client.listMemories(bank, { q: "Eve" })).total === 1;
  },
  recall: async () => {
    const found = await client.recall(bank, "Where does Ada keep bees?", {
      tags: ["hobby"], tagsMatch: "any_strict", includeChunks: true, trace: true,
    });
    return found.results[0].text.includes("Lyon") && found.trace !== null && Object.keys(found.chunks).length > 0;
  },
  recallByGroups: async () => {
    const tagGroups = [{ not: { tags: ["hobby"], match: "any_strict" } }];
    const found = await client.recall(bank, "Who keeps bees?", { tagGroups });
    return found.results.length > 0 && found.results.every((one) => !one.text.includes("Ada"));
  },
  reflect: async () => (await client.reflect(bank, "Where does Ada keep bees?", { includeFacts: true })).text.length > 0,
  listMemories: async () => (await client.listMemories(bank, { type: "world", limit: 2 })).items.length === 2,
  listDocuments: async () => (await client.listDocuments(bank)).total >= 4,
  document: async () => (await client.getDocument(bank, "notes/ada")).original_text.includes("Lyon"),
  noDocument: async () => (await client.getDocument(bank, "no/such")) === null,
  updateDocument: async () => (await client.updateDocument(bank, "notes/ada", { tags: ["craft"] })).success === true,
  createDirective: async () => {
    directive = (await client.createDirective(bank, "tone", "Answer in one sentence.", { priority: 2, tags: ["craft"] })).id;
    return directive.length > 0;
  },
  directive: async () => (await client.getDirective(bank, directive)).name === "tone",
  listDirectives: async () => (await client.listDirectives(bank, { tags: ["craft"] })).items.length === 1,
  updateDirective: async () => (await client.updateDirective(bank, directive, { isActive: false })).is_active === false,
  deleteDirective: async () => {
    await client.deleteDirective(bank, directive);
    return (await client.listDirectives(bank)).items.length === 0;
  },
  createMentalModel: async () =>
    (await client.createMentalModel(bank, "Keepers", "Who keeps bees?", { id: "keepers", tags: ["craft"] })).operation_id.length > 0,
  refreshedMentalModel: async () =>
    until(async () => ((await client.getMentalModel(bank, "keepers", { detail: "full" })).content ?? "").length > 0),
  listMentalModels: async () => (await client.listMentalModels(bank, { tags: ["craft"] })).items.length === 1,
  updateMentalModel: async () => (await client.updateMentalModel(bank, "keepers", { name: "Bee keepers" })).name === "Bee keepers",
  mentalModelHistory: async () => (await client.getMentalModelHistory(bank, "keepers")) !== undefined,
  dryRunRefresh: async () => (await client.dryRunRefreshMentalModel(bank, "keepers")) !== undefined,
  refreshMentalModel: async () => (await client.refreshMentalModel(bank, "keepers")).operation_id.length > 0,
  clearMentalModel: async () => (await client.clearMentalModel(bank, "keepers")).id === "keepers",
  deleteMentalModel: async () => {
    await client.deleteMentalModel(bank, "keepers");
    return (await client.listMentalModels(bank)).items.length === 0;
  },
  createFolder: async () => {
    folder = (await client.createKnowledgeFolder(bank, "People")).id;
    return folder.length > 0;
  },
  createPage: async () => {
    page = (await client.createKnowledgePage(bank, "Bees", "Who keeps bees?", { parentId: folder })).page_id;
    return page.length > 0;
  },
  tree: async () => (await client.getKnowledgeBaseTree(bank)).roots[0].children.length === 1,
  page: async () => (await client.getKnowledgePage(bank, page)).name === "Bees",
  searchPages: async () => Array.isArray((await client.searchKnowledgeBase(bank, "bees")).results),
  renameNode: async () => (await client.updateKnowledgeNode(bank, page, { name: "Hives" })).name === "Hives",
  exportPages: async () => Object.keys((await client.exportKnowledgeBase(bank)).files).length > 0,
  deleteNode: async () => {
    await client.deleteKnowledgeNode(bank, folder);
    return (await client.getKnowledgeBaseTree(bank)).roots.length === 0;
  },
  exportDocuments: async () => (await client.exportDocuments(bank, { pollIntervalMs: 50 })).byteLength > 0,
  deleteDocument: async () => {
    await client.deleteDocument(bank, "notes/ada");
    return (await client.getDocument(bank, "notes/ada")) === null;
  },
  refusalIsTyped: async () => {
    try {
      await client.recall(`${bank}-none`, "anything");
    } catch (error) {
      return error.statusCode === 404;
    }
    return false;
  },
  deleteBank: async () => {
    await client.deleteBank(bank);
    try {
      await client.listMemories(bank);
    } catch (error) {
      return error.statusCode === 404;
    }
    return false;
  },
};

for (const [step, run] of Object.entries(steps)) {
  let holds;
  try {
    holds = Boolean(await run());
  } catch (error) {
    holds = `${error}`;
  }
  console.log(JSON.stringify({ step, holds }));
}
