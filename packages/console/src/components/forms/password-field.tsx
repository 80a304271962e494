import { PasswordInput, type PasswordInputProps } from '@mantine/core';
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
