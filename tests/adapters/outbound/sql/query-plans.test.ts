import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { scansTable } from '#tests/fixtures/query-plans.ts';

/** A table of a million rows, as far as the planner knows. */
function database(): Database {
  const db = new Database(':memory:');
  db.run('create table parts (id integer primary key, state text, due_at integer)');
  db.run("create index parts_state on parts (state, due_at) where state <> 'done'");
  return db;
}

describe('a statement that reads a whole table', () => {
  test.each([
    'select "id" from "parts" where "state" = ? order by id limit 10',
    `select "id" from "parts" where "state" in (?) and "due_at" < ? limit 10`,
    'select count(*) from "parts"',
    'select "id" from "parts" order by "due_at" limit 10',
    'update "parts" set "due_at" = ? where "state" = ?',
    'delete from "parts" where "due_at" < ?',
    'select * from "parts" where "id" in (select "id" from "parts" where "due_at" < ? order by id desc limit 3)',
  ])('is found: %s', (sql) => {
    expect(scansTable(database(), sql)).toBe(true);
  });

  test.each([
    'select "id" from "parts" order by id desc limit 10',
    'select * from "parts" where "id" in (select "id" from "parts" order by id desc limit 3) order by id desc',
    `select "id" from "parts" where "state" = ? and "state" <> 'done' order by "due_at" limit 10`,
    'update "parts" set "due_at" = ? where "id" = ?',
    'insert into "parts" ("state") values (?)',
  ])('is not: %s', (sql) => {
    expect(scansTable(database(), sql)).toBe(false);
  });
});
