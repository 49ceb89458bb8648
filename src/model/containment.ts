/**
 * What holds a run together, chosen when it is launched. `cgroup`: one that we made; `scope`: one that the user's systemd made for us;
 * `none`: marker, cookie, ancestry, sessions and journal must do, and why.
 */
export type Containment =
  | { readonly level: 'cgroup'; readonly path: string }
  | { readonly level: 'scope'; readonly unit: string }
  | { readonly level: 'none'; readonly why: string }

/** Names of our cgroups begin so, whichever install made them: what is inside one is never where the next one is made. */
export const CGROUP_PREFIX = 'holdfast-'
const INSTALL_LETTERS = 12

/** Unique to the install and the run, and a valid name of a systemd unit. */
export const cgroupName = (install: string, run: string): string => `${cgroupStem(install)}${run}`
export const cgroupStem = (install: string): string => `${CGROUP_PREFIX}${install.replaceAll('-', '').slice(0, INSTALL_LETTERS)}-`

/** Where a run started from here would be put: beside everything of ours, never inside it. */
export type CgroupBase =
  /** `inside`: we ourselves are in one of our cgroups, and this is the place around it. */
  | { readonly kind: 'base'; readonly path: string; readonly inside: boolean }
  /** `mount`: where cgroups can at least be seen. */
  | { readonly kind: 'none'; readonly why: string; readonly mount: string | null }

/** Who is in a cgroup and all below it. `hidden`: somebody is, whom we cannot see (another pid namespace). */
export type CgroupView =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly why: string }
  | { readonly kind: 'present'; readonly pids: ReadonlySet<number>; readonly hidden: boolean }
