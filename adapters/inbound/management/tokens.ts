import { jwt } from '@elysiajs/jwt';
import type { SessionGrant } from '#core/accounts/accounts.ts';
import type { Principal } from '#core/accounts/principal.ts';
import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { HttpRequest } from '../http/exchange.ts';
import { TokenError } from './errors.ts';

/** What a token says. Nothing secret: it can be read by whoever has it. */
interface Claims {
  readonly sub: string;
  readonly session: number;
  readonly use: 'access' | 'refresh';
  /** Refresh tokens only. */
  readonly generation?: number;
}

interface Signer {
  sign(claims: Record<string, unknown>): Promise<string>;
  verify(token: string): Promise<Record<string, unknown> | false>;
}

const longestToken = 4096;

/** JWT (RFC 7519), HS256, under the key that all instances share. */
export class Tokens {
  readonly #gateway: Gateway;
  #signer: Promise<Signer> | undefined;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  async pair(grant: SessionGrant): Promise<{ access: string; refresh: string }> {
    const signer = await this.#open();
    const common = { sub: String(grant.user), session: grant.session };
    const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);
    return {
      access: await signer.sign({ ...common, use: 'access', exp: seconds(grant.accessUntil) }),
      refresh: await signer.sign({
        ...common,
        use: 'refresh',
        generation: grant.generation,
        exp: seconds(grant.refreshUntil),
      }),
    };
  }

  /** Errors: TokenError. */
  async verify(token: string, use: Claims['use']): Promise<Claims> {
    const claims = token.length <= longestToken && (await (await this.#open()).verify(token));
    if (
      !claims ||
      claims.use !== use ||
      typeof claims.sub !== 'string' ||
      typeof claims.session !== 'number'
    ) {
      throw new TokenError(true);
    }
    return claims as unknown as Claims;
  }

  /** The account of `Authorization: Bearer`. Errors: TokenError. */
  async principal({ headers, peer }: HttpRequest): Promise<Principal> {
    const match = /^Bearer +([\w.~+/=-]+) *$/i.exec(headers.authorization ?? '');
    if (!match) throw new TokenError(headers.authorization !== undefined);
    const { sub, session } = await this.verify(match[1]!, 'access');
    try {
      return await this.#gateway.accounts.principal(Number(sub), session, peer.address);
    } catch (error) {
      if (error instanceof Fault && error.code === 'unauthenticated') throw new TokenError(true);
      throw error;
    }
  }

  #open(): Promise<Signer> {
    this.#signer ??= this.#gateway.accounts
      .tokenKey()
      .then((secret) => jwt({ name: 'jwt', secret, alg: 'HS256' }).decorator.jwt as unknown as Signer);
    return this.#signer;
  }
}
