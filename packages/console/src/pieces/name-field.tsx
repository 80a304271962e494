import { TextInput } from '@mantine/core';

export interface NameFieldWish {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly failure: string | null;
  readonly maxLength?: number;
}

/** The name of something new: the first field of its dialog, which cannot be left out. */
export function NameField({ label, hint, value, onChange, failure, maxLength = 127 }: NameFieldWish) {
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
