import { Problem } from '../kernel/problem.ts';

export function consoleNotBuilt(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The console is not built; "npm run build" builds it.');
}

export function pageNotFound(): Problem {
  return new Problem('OBJECT_NOT_FOUND', 'There is nothing at this path.');
}
