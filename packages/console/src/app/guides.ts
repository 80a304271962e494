/** The pages of the documentation that explain the pages of the console, by the beginning of their paths. */
const guides = [
  ['/files', 'reference/formats'],
  ['/collections', 'guides/search'],
  ['/jobs', 'guides/troubleshooting'],
  ['/catalogue/add', 'guides/pieces'],
  ['/catalogue', 'guides/bundles'],
  ['/runs', 'guides/runs'],
  ['/credentials', 'guides/connections'],
  ['/applications', 'guides/applications'],
  ['/people', 'guides/people'],
  ['/audit', 'reference/audit'],
  ['/settings', 'guides/operating'],
  ['/', 'guides/tutorials'],
] as const;

/** Returns the path of the guide to a page, below `/docs/`. */
export function guideTo(path: string): string | undefined {
  return guides.find(([start]) => start === path || (start !== '/' && path.startsWith(`${start}/`)))?.[1];
}
