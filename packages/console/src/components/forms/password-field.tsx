import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { passwordBounds } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';

/** A password field whose button to show the password is named in the language of the console. */
export function PasswordField(props: PasswordInputProps) {
  const { t } = useLanguage();
  return (
    <PasswordInput
      visibilityToggleButtonProps={{ 'aria-label': t('signIn.togglePassword') }}
      aria-invalid={Boolean(props.error)}
      {...props}
    />
  );
}

/** Returns why the service refused a new password in a field of the body: its length, or that it is easy to guess. */
export function useExplainPassword(field: string, password: string) {
  const { t } = useLanguage();
  const { least, most } = passwordBounds;
  const { length: count } = [...password];
  const hasLength = count >= least && count <= most;
  const reason = hasLength ? t('setUp.passwordRefused') : t('setUp.passwordLength', { least, most, count });
  return (path: unknown) => (path === `body/${field}` ? reason : null);
}
