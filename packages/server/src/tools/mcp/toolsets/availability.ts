import { connectionMember, profileMember } from '@quartermaster/contract';
import { isJsonObject } from '../../../platform/json/json-object.ts';
import { Problem } from '../../../platform/problem.ts';
import type { Check, CompiledPlugin } from '../../catalogue/catalogue.ts';
import { declaredCredentials } from '../../catalogue/credential-bounds.ts';
import { readCredentialsHeaders } from '../../execution/credentials-header.ts';
import { nameCredentials, pickCredentials, type ReadHeader } from '../credentials.ts';

/** Returns the bundle ids of those credential profiles of a project that exist, by name, with one query. */
export type FindProfiles = (projectId: string, names: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** The request that asks for tools. */
export interface AvailabilityRequest {
  readonly headerOf: ReadHeader;
  /** null when the caller has no project. */
  readonly projectId: string | null;
}

/** Returns why a plugin cannot work for the caller now, for the model; null when it can. */
export type FindObstacle = (plugin: Pick<CompiledPlugin, 'bundle' | 'checkCredentials'>) => string | null;

type Named = Readonly<Record<string, unknown>>;

/** Reads the credentials in the headers of a request, and compares them with bundles on demand. */
export async function openAvailability(
  { headerOf, projectId }: AvailabilityRequest,
  findProfiles: FindProfiles,
): Promise<FindObstacle> {
  const sent = readSent(headerOf);
  const names = profileNamesIn(sent);
  const profiles = names.length === 0 || projectId === null ? new Map() : await findProfiles(projectId, names);
  const findObstacle: FindObstacle = ({ bundle, checkCredentials }) => {
    const { refusal, callsOut, hosts } = bundle;
    if (refusal !== undefined) return 'This service cannot run it on its machine.';
    if (callsOut && hosts.length === 0) return 'The operator of this service has allowed no host for it.';
    const credentials = pickCredentials(bundle, headerOf, [sent]);
    const profile = credentials[connectionMember] ?? credentials[profileMember];
    if (typeof profile === 'string') {
      return profiles.get(profile) === bundle.id
        ? null
        : 'The credential profile or connection of this request is not one for it.';
    }
    if (checkCredentials(declaredCredentials(bundle, credentials)).length === 0) return null;
    return `It needs the credentials ${nameCredentials(bundle)}. The person who configures this client must send them as headers.`;
  };
  // Most plugins have the check of their bundle.
  const known = new Map<Check, string | null>();
  return (plugin) => {
    const found = known.get(plugin.checkCredentials);
    if (found !== undefined) return found;
    const obstacle = findObstacle(plugin);
    known.set(plugin.checkCredentials, obstacle);
    return obstacle;
  };
}

/** A malformed header is ignored. A call that sends it gets an error with the reason. */
function readSent(headerOf: ReadHeader): Named {
  try {
    return readCredentialsHeaders(headerOf);
  } catch (error) {
    if (error instanceof Problem) return {};
    throw error;
  }
}

/** The maximum number of profile names of one request. Credentials have at most 32 members, each with one name, and one for all bundles. */
const maxProfileNames = 33;

/** The names of profiles, for all bundles or below the id of a bundle. */
function profileNamesIn(sent: Named): string[] {
  const places = [sent, ...Object.values(sent).filter(isJsonObject)];
  const names = places
    .flatMap((place) => [place[profileMember], place[connectionMember]])
    .filter((name) => typeof name === 'string');
  return [...new Set(names)].slice(0, maxProfileNames);
}
