import { ApiError } from '@quartermaster/client/api';
import { type FormEvent, useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { describeFailure } from '../failure.tsx';
import { useKeptFocus } from './use-focus-return.ts';

/**
 * State of a form: `submit` calls `action`, `busy` is true until it ends, `failure` is the error of the last attempt.
 * @param explainField returns the console's own text for an invalid field, such as `body/password`; null uses the error
 */
export function useSubmit(action: () => Promise<unknown>, explainField: (path: unknown) => string | null = () => null) {
  const { explain } = useLanguage();
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  useKeptFocus(busy);
  const submit = async (event: Pick<FormEvent, 'preventDefault'>) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      await action();
    } catch (error) {
      const path = error instanceof ApiError ? error.details?.[0]?.path : undefined;
      setFailure(explainField(path) ?? describeFailure(error, explain));
    }
    setBusy(false);
  };
  return { failure, busy, submit };
}
