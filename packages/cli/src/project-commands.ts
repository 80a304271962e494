import { createInterface } from 'node:readline';
import { Argument, Command } from 'commander';
import { withAdministration } from './administration.ts';
import {
  type JsonOption,
  jsonOption,
  printError,
  printFields,
  printJson,
  printResult,
  printTable,
  say,
  time,
} from './output/print.ts';

export function projectCommands(): Command {
  const project = new Command('project').description(
    'manage projects, which have their own files, collections and keys',
  );
  project
    .command('create')
    .argument('<name>', 'name of the project')
    .description('create a project and print its id')
    .option(...jsonOption)
    .action((name: string, options: JsonOption) =>
      withAdministration(async ({ projects }) => {
        const { id } = await projects.createProject(name);
        printResult(options, { project_id: id, name }, () => say(id));
      }),
    );
  project
    .command('list')
    .description('list all projects')
    .option(...jsonOption)
    .action(({ json }: JsonOption) =>
      withAdministration(async ({ projects }) => {
        const rows = await projects.listProjects();
        const cells = rows.map((row) => [row.id, row.name, time(row.createdAt)]);
        if (json !== true) return printTable(['PROJECT', 'NAME', 'CREATED'], cells);
        for (const { id, name, createdAt } of rows) printJson({ project_id: id, name, created_timestamp: createdAt });
      }),
    );
  addDeletion(project);
  project
    .command('inputs')
    .argument('<project-id>', 'id or name of the project')
    .addArgument(new Argument('<what>', 'keep or drop inputs and messages').choices(['keep', 'drop']))
    .description(
      'keep or drop the inputs and messages of runs in their records (default: drop); credentials are never kept',
    )
    .option(...jsonOption)
    .action((project: string, what: 'keep' | 'drop', options: JsonOption) =>
      withAdministration(async ({ projects, findProjectId }) => {
        const projectId = await findProjectId(project);
        await projects.setRunInputs(projectId, what);
        printResult(options, { project_id: projectId, run_inputs: what }, () => undefined);
      }),
    );
  return project;
}

function addDeletion(project: Command): void {
  project
    .command('delete')
    .argument('<project-id>', 'id or name of the project')
    .description('delete a project with everything that belongs to it, and print a report')
    .option('--yes', 'do not ask for the name of the project')
    .option(...jsonOption)
    .action((project: string, { yes, ...options }: JsonOption & { yes?: true }) =>
      withAdministration(async ({ findProjectToDelete, deleteProject }) => {
        const { id, name } = await findProjectToDelete(project);
        if (yes !== true) await confirmName(name);
        const { steps, deleted, begunAt, endedAt } = await deleteProject(id);
        const times = { begun_timestamp: begunAt, ended_timestamp: endedAt };
        const report = { project_id: id, name, ...times, steps, ...deleted };
        printResult(options, report, () => printFields(report));
      }),
    );
}

/** Asks for the name of a project. @throws Error when standard input has another line, or none */
async function confirmName(name: string): Promise<void> {
  printError(
    `This deletes all files, collections, runs, credential profiles and keys of the project. Type its name: ${name}`,
  );
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === name.trim()) return;
    break;
  }
  throw new Error('The name was not confirmed. Nothing was deleted. Type the name of the project, or use --yes.');
}
