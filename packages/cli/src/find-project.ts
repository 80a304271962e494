import type { withAdministration } from '@quartermaster/server/administration';

type Administration = Parameters<Parameters<typeof withAdministration>[0]>[0];

/** The id of the project with this id or name. Returns an unknown text unchanged, so that the error names it. */
export async function findProjectId(projects: Administration['projects'], text: string): Promise<string> {
  const all = await projects.listProjects();
  return (all.find(({ id }) => id === text) ?? all.find(({ name }) => name === text))?.id ?? text;
}
