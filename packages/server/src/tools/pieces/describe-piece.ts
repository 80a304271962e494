import { shownText } from '../../platform/plain-name.ts';
import { checkDescription } from '../execution/pieces/check-description.ts';
import type { PieceDescription } from '../execution/pieces/child/piece-task.ts';
import { pieceFailed, pieceRefused } from '../execution/pieces/problems.ts';
import type { Sandbox, SandboxOutcome } from '../execution/sandbox/sandbox.ts';
import { openPiece } from './piece-process.ts';

/**
 * Describes a piece: its process in the sandbox reads what the piece declares, and the answer is checked here.
 * @param file the unmodified file of the package
 * @throws Problem that says why the piece cannot be used
 */
export async function describePiece(file: Buffer, sandbox: Sandbox, signal: AbortSignal): Promise<PieceDescription> {
  await using piece = await openPiece(file, sandbox);
  return withAddresses(
    withShownTexts(checkDescription(readAnswer(await piece.run({ mode: 'describe' }, signal)))),
    file,
  );
}

const shownMembers: ReadonlySet<string> = new Set(['displayName', 'description', 'label']);
/** A value that the piece compares and does not output. */
const opaqueMembers: ReadonlySet<string> = new Set(['defaultValue', 'value']);

/** Removes characters that hide words from the names and descriptions of a piece. Descriptions keep their lines. */
function withShownTexts<T>(part: T): T {
  if (Array.isArray(part)) return part.map(withShownTexts) as T;
  if (typeof part !== 'object' || part === null) return part;
  const members = Object.entries(part).map(([key, value]) => {
    if (opaqueMembers.has(key)) return [key, value];
    const isShown = typeof value === 'string' && shownMembers.has(key);
    return [key, isShown ? value.split(/\r?\n/).map(shownText).join('\n') : withShownTexts(value)];
  });
  return Object.fromEntries(members);
}

/** Members of the answers of token endpoints (Pipedrive, Zoho, Salesforce) that pieces read, and that no property declares. */
const addresses = ['api_domain', 'instance_url'];

/** Adds the addresses of accounts that the code reads to the credentials, because the token alone does not have them. */
function withAddresses(description: PieceDescription, file: Buffer): PieceDescription {
  const about = 'The URL of the account, which the token endpoint returns beside the token.';
  const props = addresses
    .filter((name) => file.includes(name))
    .map((name) => ({ name, type: 'SHORT_TEXT', displayName: name, description: about, required: false }));
  const auth = description.auth.map((one) => {
    const missing = props.filter(({ name }) => !one.props.some((each) => each.name === name));
    return one.kind === 'OAUTH2' ? { ...one, props: [...one.props, ...missing] } : one;
  });
  return { ...description, auth };
}

function readAnswer(outcome: SandboxOutcome): unknown {
  if (outcome.kind === 'returned') return outcome.output;
  // Its length is limited, and only administrators install pieces.
  if (outcome.kind === 'returned_large') return JSON.parse(outcome.json.toString());
  if (outcome.kind === 'failed') throw pieceRefused(outcome.message.replace(/\.$/, ''));
  throw pieceFailed('message' in outcome ? outcome.message : `Its process ended with ${outcome.kind}.`);
}
