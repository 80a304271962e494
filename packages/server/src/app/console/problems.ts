import { Problem, pathNotFound } from '../../platform/problem.ts';

export function consoleNotBuilt(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The console is not built. Run "npm run build".');
}

/** @param path in the folder of the console */
export function consoleChanged(path: string): Problem {
  const message = `The console file ${path} was changed after the build. Delete packages/console/dist and run "npm run build".`;
  return new Problem('SERVICE_UNAVAILABLE', message);
}

export function pageNotFound(): Problem {
  return pathNotFound();
}
