/** An end of a TCP connection. */
export type End = { readonly address: string; readonly port: number }
/** A connection as its server knows it. */
export type Connection = { readonly local: End; readonly remote: End }

/** Which processes have which sockets and files open. */
export interface Connections {
  /** Our user's processes that have the other end of a connection on this machine. */
  holders(connection: Connection): { readonly pids: readonly number[]; readonly hasStill: (pid: number) => boolean }
  livesIn(pid: number, pidNamespace: string): boolean
  /** Null: the process is gone, or may not be looked at. */
  umask(pid: number): number | null
  /** True if the process has the file open that lies at a path, or lay there. */
  hasOpen(pid: number, path: string): boolean
  /** The process that has locked a file; null: none of this pid namespace. */
  lockHolder(path: string): number | null
}
