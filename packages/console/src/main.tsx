import { MantineProvider } from '@mantine/core';
import { ApiError } from '@quartermaster/client';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { createConsoleRouter } from './app/router.tsx';
import { theme } from './app/theme.ts';
import './app/styles.ts';
import { LanguageProvider } from './language/language.tsx';
import { ToastProvider } from './pieces/toasts.tsx';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // What the service refused it would refuse again; only lost connections are worth another try.
      retry: (count, error) => !(error instanceof ApiError) && count < 2,
    },
  },
});

/** Of the styles that components make while they run; the server's policy lets in no others. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
// The library that stops pages from scrolling below a dialog looks for it here.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
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
