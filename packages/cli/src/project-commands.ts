import { Argument, Command } from 'commander';
import { withAdministration } from './administration.ts';
import { type JsonOption, jsonOption, printJson, printResult, printTable, say, time } from './output/print.ts';

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
        if (json === true) {
          for (const { id, name, createdAt } of rows) printJson({ project_id: id, name, created_timestamp: createdAt });
          return;
        }
        printTable(
          ['PROJECT', 'NAME', 'CREATED'],
          rows.map((row) => [row.id, row.name, time(row.createdAt)]),
        );
      }),
    );
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
