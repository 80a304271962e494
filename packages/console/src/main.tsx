import { MantineProvider } from '@mantine/core';
import { ApiError } from '@quartermaster/client/api';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { createConsoleRouter } from './app/router.tsx';
import { theme } from './app/theme.ts';
import './app/styles.ts';
import { ToastProvider } from './components/toasts.tsx';
import { LanguageProvider } from './language/language.tsx';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // Only lost connections are retried, because the service would refuse the same request again.
      retry: (count, error) => !(error instanceof ApiError) && count < 2,
    },
  },
});

/** Nonce for styles created at run time. The server's policy allows no others. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
// The library that stops pages from scrolling below a dialog looks for it here.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no element with the id "root"');
createRoot(root).render(
  <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
    <LanguageProvider>
      <QueryClientProvider client={queries}>
        <ToastProvider>
          <RouterProvider router={createConsoleRouter()} />
        </ToastProvider>
      </QueryClientProvider>
    </LanguageProvider>
  </MantineProvider>,
);
