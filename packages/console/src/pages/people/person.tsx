import { Badge, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export interface PersonProps {
  readonly person: { readonly name: string; readonly email: string | null; readonly account_id: string };
  readonly badges: readonly string[];
  readonly children?: ReactNode;
}

/** The name that people know, the e-mail address and the id of an account. */
export function Person({ person, badges, children }: PersonProps) {
  return (
    <>
      <Group gap="xs">
        <Text fw={600}>{nameOf(person)}</Text>
        {badges.map((badge) => (
          <Badge key={badge} size="sm" variant="light">
            {badge}
          </Badge>
        ))}
      </Group>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {person.email === null ? '' : `${person.email} · `}
        {person.account_id}
      </Text>
      {children}
    </>
  );
}

/** An identity provider may give an account no name. */
export function nameOf({ name, account_id: id }: PersonProps['person']): string {
  return name.trim() === '' ? id : name.trim();
}
