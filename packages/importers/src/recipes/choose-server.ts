export interface ChosenServer {
  /** What requests begin with. It may hold `{credential:NAME}` in its path. */
  readonly base: string;
  readonly origin: string;
  readonly host: string;
}

/**
 * The address of the API. The user chooses only the parts of the host that the recipe leaves open, such as `{site}`.
 * @throws Error when the address of the user is missing or does not fit
 */
export function chooseServer(server: string, wanted: string | undefined): ChosenServer {
  const [, host = '', path = ''] = /^https:\/\/([^/]+)(\/.*)?$/.exec(server) ?? [];
  const isOpen = host.includes('{');
  if (!isOpen && wanted !== undefined)
    throw new Error(`The recipe calls ${server} only. Remove the server from the import.`);
  const chosen = isOpen ? hostOf(host, wanted) : host;
  return { base: `https://${chosen}${path}`, origin: `https://${chosen}`, host: chosen };
}

function hostOf(host: string, wanted: string | undefined): string {
  const example = `https://${host.replaceAll(/[{}]/g, '')}`;
  if (wanted === undefined) throw new Error(`Add the address of your account as server, such as ${example}.`);
  const chosen = URL.canParse(wanted) ? new URL(wanted) : undefined;
  const [given, own] = [chosen?.host.split('.') ?? [], host.split('.')];
  const fits =
    given.length === own.length && own.every((label, index) => label.startsWith('{') || label === given[index]);
  if (chosen?.protocol !== 'https:' || !fits)
    throw new Error(
      `The server must be an address such as ${example}; received ${JSON.stringify(wanted.slice(0, 60))}.`,
    );
  return chosen.host;
}
