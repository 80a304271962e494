import { CloseButton } from '@mantine/core';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { describeFailure } from './failure.tsx';
import classes from './toasts.module.css';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}
interface Toasts {
  readonly say: (text: string) => void;
  /** Shows an error. */
  readonly showError: (error: unknown) => void;
}

const ToastContext = createContext<Toasts | null>(null);
const shownMs = 6000;
let lastId = 0;

/** Short notifications, announced by screen readers. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const { t, explain } = useLanguage();
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const remove = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const add = useCallback(
    (text: string, bad: boolean) => {
      const id = ++lastId;
      setToasts((all) => [...all.slice(-3), { id, text, bad }]);
      setTimeout(() => remove(id), shownMs);
    },
    [remove],
  );
  const value = useMemo<Toasts>(
    () => ({
      say: (text) => add(text, false),
      showError: (error) => add(describeFailure(error, explain), true),
    }),
    [add, explain],
  );
  return (
    <ToastContext value={value}>
      {children}
      <div className={classes.stack} role="status" aria-live="polite">
        {toasts.map((toast) => (
          <div key={toast.id} className={classes.toast} data-bad={toast.bad || undefined}>
            <span>{toast.text}</span>
            <CloseButton size="sm" aria-label={t('action.dismiss')} onClick={() => remove(toast.id)} />
          </div>
        ))}
      </div>
    </ToastContext>
  );
}

export function useToasts(): Toasts {
  const toasts = useContext(ToastContext);
  if (toasts === null) throw new Error('useToasts outside of ToastProvider');
  return toasts;
}
