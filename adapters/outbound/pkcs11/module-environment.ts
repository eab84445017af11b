const names: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'TZ',
  'LANG',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  // Modules that reach their HSM over the network.
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  // Thales Luna.
  'ChrystokiConfigurationPath',
]);

/** Beginnings of names: of the dynamic linker, locales, the engine that the process itself runs on, and modules. */
const families = [
  'LD_',
  'LC_',
  'BUN_JSC_',
  'MIMALLOC_',
  'SOFTHSM2_',
  'P11_KIT_',
  'PKCS11_', // pkcs11-proxy and others
  'OPENSC_',
  'NSS_',
  'TPM2_PKCS11_',
  'TSS2_',
  'YUBIHSM_',
  'CKNFAST_', // Entrust nShield
  'NFAST_',
  'CS_PKCS11_', // Utimaco
] as const;

/**
 * What of the gateway's environment the process of a PKCS #11 module gets. The rest is none of its business: the gateway's passwords are
 * in there. Whatever else a module wants is for the configuration to say.
 */
export const moduleEnvironment = (
  ours: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(ours).filter(
      ([name]) => names.has(name) || families.some((family) => name.startsWith(family)),
    ),
  );
