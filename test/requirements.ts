import { bundlesRequirements } from './requirements/bundles.ts';
import { clientRequirements } from './requirements/client.ts';
import { commandsRequirements } from './requirements/commands.ts';
import { consoleRequirements } from './requirements/console.ts';
import { dialectsRequirements } from './requirements/dialects.ts';
import { egressRequirements } from './requirements/egress.ts';
import { executionRequirements } from './requirements/execution.ts';
import { filesRequirements } from './requirements/files.ts';
import { keysRequirements } from './requirements/keys.ts';
import { mcpRequirements } from './requirements/mcp.ts';
import { operationsRequirements } from './requirements/operations.ts';
import { recordsRequirements } from './requirements/records.ts';
import type { Requirement } from './requirements/requirement.ts';
import { runsRequirements } from './requirements/runs.ts';
import { searchRequirements } from './requirements/search.ts';
import { secretsRequirements } from './requirements/secrets.ts';
import { sessionsRequirements } from './requirements/sessions.ts';
import { wireRequirements } from './requirements/wire.ts';

/**
 * Every promise and its id. A new promise belongs in the file of its family. `requirements.test.ts` finds promises
 * without a test, titles without a test, and duplicate ids.
 */
export const requirements: readonly (readonly [id: string, requirement: Requirement])[] = [
  filesRequirements,
  recordsRequirements,
  searchRequirements,
  keysRequirements,
  wireRequirements,
  bundlesRequirements,
  executionRequirements,
  runsRequirements,
  egressRequirements,
  secretsRequirements,
  mcpRequirements,
  dialectsRequirements,
  operationsRequirements,
  sessionsRequirements,
  consoleRequirements,
  clientRequirements,
  commandsRequirements,
].flatMap((family) => Object.entries(family));
