import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { basePath } from '../base-path.ts';
import { Loading } from '../components/loading.tsx';
import { NotFound } from './not-found.tsx';
import { type PageState, parseSearch, stringifySearch } from './page-state.ts';
import { Root } from './root.tsx';
import { RouteFailure } from './route-failure.tsx';

const root = createRootRoute({
  component: Root,
  notFoundComponent: NotFound,
  validateSearch: (search: Record<string, unknown>): PageState => search,
  // Every link keeps the project.
  search: { middlewares: [retainSearchParams<PageState>(['project'])] },
});

/** Each page is a separate chunk, loaded when the user opens it. */
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
    path: '/collections',
    component: lazyRouteComponent(() => import('../pages/collections/collections.tsx'), 'Collections'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/collections/$collectionId',
    component: lazyRouteComponent(() => import('../pages/collections/collection-page.tsx'), 'CollectionPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/collections/$collectionId/records/$recordId',
    component: lazyRouteComponent(() => import('../pages/record/record-page.tsx'), 'RecordPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/jobs',
    component: lazyRouteComponent(() => import('../pages/jobs/jobs.tsx'), 'Jobs'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/catalogue',
    component: lazyRouteComponent(() => import('../pages/catalogue/catalogue.tsx'), 'Catalogue'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/catalogue/add',
    component: lazyRouteComponent(() => import('../pages/integrations/integrations.tsx'), 'Integrations'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/catalogue/$bundleId',
    component: lazyRouteComponent(() => import('../pages/plugin/plugin-page.tsx'), 'BundlePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/catalogue/$bundleId/$pluginId',
    component: lazyRouteComponent(() => import('../pages/plugin/plugin-page.tsx'), 'PluginPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/credentials',
    component: lazyRouteComponent(() => import('../pages/credentials/credentials.tsx'), 'Credentials'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs',
    component: lazyRouteComponent(() => import('../pages/runs/runs.tsx'), 'Runs'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/$runId',
    component: lazyRouteComponent(() => import('../pages/runs/run-page.tsx'), 'RunPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings',
    component: lazyRouteComponent(() => import('../pages/settings/settings.tsx'), 'Settings'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/applications',
    component: lazyRouteComponent(() => import('../pages/applications/applications.tsx'), 'Applications'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/people',
    component: lazyRouteComponent(() => import('../pages/people/people.tsx'), 'People'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/audit',
    component: lazyRouteComponent(() => import('../pages/audit/audit.tsx'), 'Audit'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/oauth/requests/$requestId',
    component: lazyRouteComponent(() => import('../pages/consent/consent.tsx'), 'Consent'),
  }),
];

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren(pages),
    basepath: basePath === '' ? '/' : basePath,
    parseSearch,
    stringifySearch,
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
