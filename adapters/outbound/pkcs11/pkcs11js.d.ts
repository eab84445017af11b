// The part of pkcs11js that Postern uses. Without a compiler the package is not installed, and its types are missing.
declare module 'pkcs11js' {
  type Handle = Buffer;

  interface Attribute {
    readonly type: number;
    readonly value?: Buffer | string | boolean | number;
  }

  interface Mechanism {
    readonly mechanism: number;
    readonly parameter?: Readonly<Record<string, number>>;
  }

  /** Errors of functions that call the module have a message `CKR_NAME:number` or a property `code`. */
  interface Cryptoki {
    load(path: string): void;
    close(): void;
    C_Initialize(options: { readonly flags: number; readonly libraryParameters?: string }): void;
    C_Finalize(): void;
    C_GetSlotList(tokenPresent: boolean): Handle[];
    C_GetTokenInfo(slot: Handle): {
      readonly label: string;
      readonly serialNumber: string;
      readonly flags: number;
    };
    C_GetMechanismList(slot: Handle): number[];
    C_GetMechanismInfo(
      slot: Handle,
      mechanism: number,
    ): { readonly minKeySize: number; readonly maxKeySize: number };
    C_OpenSession(slot: Handle, flags: number): Handle;
    C_CloseSession(session: Handle): void;
    C_GetSessionInfo(session: Handle): { readonly state: number };
    C_Login(session: Handle, user: number, pin: string): void;
    C_InitPIN(session: Handle, pin: string): void;
    C_FindObjectsInit(session: Handle, template: readonly Attribute[]): void;
    C_FindObjects(session: Handle, most: number): Handle[];
    C_FindObjectsFinal(session: Handle): void;
    C_GetAttributeValue(
      session: Handle,
      object: Handle,
      template: readonly Attribute[],
    ): { readonly type: number; readonly value: Buffer }[];
    C_DestroyObject(session: Handle, object: Handle): void;
    C_GenerateKeyPairAsync(
      session: Handle,
      mechanism: Mechanism,
      publicTemplate: readonly Attribute[],
      privateTemplate: readonly Attribute[],
    ): Promise<{ readonly publicKey: Handle; readonly privateKey: Handle }>;
    C_SignInit(session: Handle, mechanism: Mechanism, key: Handle): void;
    C_SignAsync(session: Handle, data: Buffer, signature: Buffer): Promise<Buffer>;
  }

  const pkcs11js: { readonly PKCS11: new () => Cryptoki; readonly CK_PARAMS_RSA_PSS: number };

  export type { Attribute, Cryptoki, Handle, Mechanism };
  export default pkcs11js;
}
