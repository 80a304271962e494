import { type BundlePlan, type PackageUpdate, pluginEffects } from '@quartermaster/contract';
import { say } from '../output/print.ts';
import { placeText } from './edit-reach.ts';

/** Prints what an administrator decides about. */
export function printPlan(plan: BundlePlan): void {
  const { actions, credentials, credential_places: places, update } = plan;
  say(`${plan.package} ${plan.version} as bundle ${plan.bundle_id}`);
  line('from', { piece: 'package', archive: 'archive', openapi: 'OpenAPI document', mcp: 'MCP server' }[plan.kind]);
  line('integrity', plan.integrity);
  if (plan.trust !== null)
    line('publisher', plan.publisher === null ? 'not signed' : `${plan.publisher} (${plan.trust})`);
  if (plan.packed_from !== null) line('packed from', plan.packed_from);
  line('licence', plan.licence);
  line('size', `${(plan.bytes / 2 ** 20).toFixed(1)} MiB`);
  say('');
  say(`Actions: ${actions.length}`);
  for (const effects of pluginEffects) {
    const ids = actions.filter((action) => action.effects === effects).map(({ plugin_id }) => plugin_id);
    if (ids.length > 0) line(`${effects} (${ids.length})`, cut(ids));
  }
  say('');
  say('Reach');
  line('credentials', listed(credentials.map(({ name, secret }) => (secret ? `${name} (secret)` : name))));
  line('may call', listed(plan.hosts));
  if (places !== null) {
    line('sends the credential to', listed(places.hosts));
    line('only in', listed(places.places.map(placeText)));
  }
  if (update !== null) printUpdate(update);
  for (const warning of plan.warnings) {
    say('');
    say(`Warning: ${warning}`);
  }
  say('');
  say(plan.risk);
  line('digest', plan.digest);
}

function printUpdate({ from_version, added, removed }: PackageUpdate): void {
  say('');
  say(`Changes since ${from_version}`);
  const lines = (sign: string, part: PackageUpdate['added']) => [
    ...part.actions.map(({ plugin_id, effects }) => `${sign} action ${plugin_id} (${effects})`),
    ...part.credentials.map(({ name }) => `${sign} credential ${name}`),
    ...part.hosts.map((host) => `${sign} may call ${host}`),
    ...part.credential_hosts.map((host) => `${sign} sends the credential to ${host}`),
    ...part.places.map((place) => `${sign} credential in ${placeText(place)}`),
  ];
  const all = [...lines('-', removed), ...lines('+', added)];
  for (const text of all.length === 0 ? ['only the code'] : all) say(`  ${text}`);
}

const mostIds = 30;

function cut(ids: readonly string[]): string {
  const more = ids.length - mostIds;
  return `${ids.slice(0, mostIds).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const listed = (items: readonly string[]) => (items.length === 0 ? 'none' : items.join(', '));

function line(name: string, text: string): void {
  say(`  ${`${name}:`.padEnd(25)}${text}`);
}
