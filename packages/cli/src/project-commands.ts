import { withAdministration } from '@quartermaster/server/administration';
import { Argument, Command } from 'commander';
import { printTable, time } from './print.ts';

export function projectCommands(): Command {
  const project = new Command('project').description('projects: each has its own files, collections and keys');
  project
    .command('create')
    .argument('<name>')
    .description('make a project')
    .action((name: string) =>
      withAdministration(async ({ projects }) => {
        const made = await projects.createProject(name);
        console.log(made.id);
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
    .argument('<project-id>')
    .addArgument(new Argument('<what>').choices(['keep', 'drop']))
    .description('whether the records of its runs hold inputs and messages, without credentials (drop)')
    .action((projectId: string, what: 'keep' | 'drop') =>
      withAdministration(({ projects }) => projects.setRunInputs(projectId, what)),
    );
  return project;
}
