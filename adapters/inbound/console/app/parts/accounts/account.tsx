import { messages } from '../../language.ts';
import { words } from '../../words.ts';
import { Badge } from '../display/facts.tsx';
import { RoleOf, useChoices } from '../display/reference.tsx';
import type { Field } from '../forms/input.tsx';
import { createdColumn } from '../lists/columns.tsx';
import type { Column } from '../lists/list.tsx';

const m = messages(
  { active: 'Active', inactive: 'Inactive', role: 'Role' },
  { active: 'Aktiv', inactive: 'Inaktiv', role: 'Rolle' },
);

/** What users and service accounts have in common. */
export interface Account {
  readonly id: number;
  readonly role: number;
  readonly is_active: boolean;
  readonly created_at: string;
}

export const roleTitle = (): string => m('role');
export const accountState = (isActive: boolean): string => m(isActive ? 'active' : 'inactive');

export const accountColumns = (): readonly Column<Account>[] => [
  { name: 'role', title: m('role'), orderable: true, cell: ({ role }) => <RoleOf id={role} /> },
  {
    name: 'is_active',
    title: words('state'),
    orderable: true,
    cell: ({ is_active }) => <Badge look={is_active ? 'good' : 'calm'}>{accountState(is_active)}</Badge>,
  },
  createdColumn(),
];

export function useAccountFields(of: Account | undefined): readonly Field[] {
  const roles = useChoices('/api/roles/', 'accounts.read');
  return [
    { name: 'role', title: m('role'), type: 'choice', required: true, initial: of?.role, options: roles },
    { name: 'is_active', title: m('active'), type: 'check', initial: of?.is_active ?? true },
  ];
}
