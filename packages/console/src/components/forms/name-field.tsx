import { TextInput } from '@mantine/core';

export interface NameFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly failure: string | null;
  readonly maxLength?: number;
}

/** The required name field of a dialog that creates an object. */
export function NameField({ label, hint, value, onChange, failure, maxLength = 127 }: NameFieldProps) {
  return (
    <TextInput
      label={label}
      description={hint}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      maxLength={maxLength}
      required
      withAsterisk={false}
      data-autofocus
      error={failure}
    />
  );
}
