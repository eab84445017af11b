import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { Kysely, SqliteDialect } from 'kysely';
import type { Row, SqlValue } from '#adapters/outbound/sql/codec.ts';
import type { Driver } from '#adapters/outbound/sql/driver.ts';
import type { Tables } from '#adapters/outbound/sql/queries.ts';
import { Refusal } from '#adapters/outbound/sql/refusal.ts';
import { newHandle } from '#core/ports/store.ts';
import { insert, nullable } from '#tests/contracts/store-samples.ts';

/** A store with all domains up to id 1200 and nothing else. */
function database(): { driver: Driver; asked: number[] } {
  const asked: number[] = [];
  const answer = async (sql: string, parameters: readonly SqlValue[]): Promise<Row[]> => {
    asked.push(parameters.length);
    return parameters.filter((id) => sql.includes('"domains"') && Number(id) <= 1200).map((id) => ({ id }));
  };
  const never = () => Promise.reject(new Error('not asked for'));
  const dialect = new SqliteDialect({ database: new Database(':memory:') as never });
  const driver: Driver = {
    dialect: 'sqlite',
    builder: new Kysely<Tables>({ dialect }),
    look: never,
    query: answer,
    search: answer,
    transact: never,
    change: never,
    beat: never,
    sight: never,
    reason: () => '',
    health: never,
    close: never,
  };
  return { driver, asked };
}

const devices = (count: number, more: (n: number) => object) =>
  Array.from({ length: count }, (_, n) =>
    insert('device', { ...nullable.device, commonName: `pump-${n}`, ...more(n) }),
  );

test('the write with a missing reference is found among many with few queries', async () => {
  const { driver, asked } = database();
  const writes = devices(1500, (n) => ({ domain: n + 1 }));
  const fault = await new Refusal(writes, { kind: 'reference' }).explain(driver);
  expect(fault).toMatchObject({ code: 'conflict', detail: 'there is no such domain', field: 'domain' });
  expect(asked).toEqual([1000, 500]);
});

test('a reference of many writes is checked once, and one to a record of the commit is not checked', async () => {
  const { driver, asked } = database();
  const writes = devices(1500, (n) => ({
    domain: 1 + (n % 3),
    onboardingConfig: n === 700 ? 4 : newHandle('configuration'),
  }));
  const fault = await new Refusal(writes, { kind: 'reference' }).explain(driver);
  expect(fault).toMatchObject({ code: 'conflict', field: 'onboardingConfig' });
  expect(asked).toEqual([3, 1]);
});

test('a reference that exists when it is checked was missing before', async () => {
  const { driver } = database();
  const fault = await new Refusal(
    devices(2, () => ({ domain: 1 })),
    { kind: 'reference' },
  ).explain(driver);
  expect(fault).toMatchObject({ code: 'conflict', detail: 'the device refers to a deleted record' });
});
