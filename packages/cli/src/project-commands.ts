import { Argument, Command } from 'commander';
import { withAdministration } from './administration.ts';
import { printTable, time } from './output/print.ts';

export function projectCommands(): Command {
  const project = new Command('project').description(
    'manage projects, which have their own files, collections and keys',
  );
  project
    .command('create')
    .argument('<name>', 'name of the project')
    .description('create a project and print its id')
    .action((name: string) =>
      withAdministration(async ({ projects }) => {
        const created = await projects.createProject(name);
        console.log(created.id);
      }),
    );
  project
    .command('list')
    .description('list all projects')
    .action(() =>
      withAdministration(async ({ projects }) => {
        const rows = await projects.listProjects();
        printTable(
          ['project', 'name', 'created'],
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
    .action((project: string, what: 'keep' | 'drop') =>
      withAdministration(async ({ projects, findProjectId }) =>
        projects.setRunInputs(await findProjectId(project), what),
      ),
    );
  return project;
}
