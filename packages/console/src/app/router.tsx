import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Loading } from '../pieces/loading.tsx';
import { NotFound } from './not-found.tsx';
import { Root } from './root.tsx';
import { RouteFailure } from './route-failure.tsx';

const root = createRootRoute({ component: Root, notFoundComponent: NotFound });

/** Each page is a part of its own, loaded when it is opened. */
const pages = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    component: lazyRouteComponent(() => import('../pages/overview/overview.tsx'), 'Overview'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/files',
    component: lazyRouteComponent(() => import('../pages/files/files.tsx'), 'Files'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings',
    component: lazyRouteComponent(() => import('../pages/settings/settings.tsx'), 'Settings'),
  }),
];

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren(pages),
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: RouteFailure,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
