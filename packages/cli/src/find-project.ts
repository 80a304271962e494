import type { withAdministration } from '@quartermaster/server/administration';

type Administration = Parameters<Parameters<typeof withAdministration>[0]>[0];

/** The id of the project with this id or name; the text itself when there is none, so that the refusal names it. */
export async function findProjectId(projects: Administration['projects'], text: string): Promise<string> {
  const all = await projects.listProjects();
  return (all.find(({ id }) => id === text) ?? all.find(({ name }) => name === text))?.id ?? text;
}
