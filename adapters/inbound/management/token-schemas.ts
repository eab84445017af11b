import { Type } from '@sinclair/typebox';
import type { FieldDescription } from './description.ts';

/** The schema of a body with these fields. */
export const objectOf = (fields: Readonly<Record<string, FieldDescription>>, $id: string) =>
  Type.Object(
    Object.fromEntries(
      Object.entries(fields).map(([name, { schema, required }]) => [
        name,
        required ? schema : Type.Optional(schema),
      ]),
    ),
    { $id, additionalProperties: false },
  );

export const jwt = Type.String({ description: 'JWT' });
export const tokenExample = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';

/** What a sign-in of a user is answered with. */
export const tokenPair = Type.Object(
  { access: jwt, refresh: jwt },
  { $id: 'TokenPair', additionalProperties: false },
);
export const tokenPairExample = { access: tokenExample, refresh: tokenExample };
