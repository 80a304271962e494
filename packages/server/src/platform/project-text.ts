/**
 * Stands for "no project" where a text is required: in `project_id`, which is part of keys of the database and so cannot be null,
 * and in texts that are signed, hashed or encrypted together with a project. Everywhere else "no project" is null.
 */
const noProject = '-';

/** Returns the text of a project for a column, or for a text that is signed, hashed or encrypted. */
export function projectText(projectId: string | null): string {
  return projectId ?? noProject;
}

/** Reads what {@link projectText} returned. */
export function readProject(text: string): string | null {
  return text === noProject ? null : text;
}
