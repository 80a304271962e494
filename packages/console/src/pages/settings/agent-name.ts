/** The mark of each browser in its user agent. Those that also carry the mark of another one come first. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Version/', 'Safari'],
] as const;
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

/** Names the browser and the system of a user agent, such as `Firefox 150 · Windows`. Returns that of another program unchanged. */
export function nameOfAgent(agent: string): string {
  const browser = browsers.find(([mark]) => agent.includes(mark));
  if (browser === undefined) return agent;
  const [mark, name] = browser;
  const version = Number.parseInt(agent.slice(agent.indexOf(mark) + mark.length), 10);
  const system = systems.find(([word]) => agent.includes(word))?.[1];
  return [Number.isNaN(version) ? name : `${name} ${version}`, system].filter(Boolean).join(' · ');
}
