import type { SpareRule } from '../model/index.ts'

/** Browsers that an agent drives are its tools; those that it only opened are the user's. */
const DRIVEN = ['--headless', '--remote-debugging', '--enable-automation', '--marionette', '-marionette', '--juggler', '--user-data-dir=/tmp/']

/** Long-lived things of the user's that often begin inside whatever needed them first. Reported when a run ends, not ended. */
export const SPARE: readonly SpareRule[] = [
  {
    what: 'a key agent',
    named: ['gpg-agent', 'ssh-agent', 'dirmngr', 'keyboxd', 'scdaemon', 'pcscd', 'gnome-keyring-daemon', 'kwalletd5', 'kwalletd6'],
  },
  {
    what: 'a session service',
    named: ['dbus-daemon', 'dbus-launch', 'at-spi-bus-launcher', 'gvfsd', 'dconf-service', 'pulseaudio', 'pipewire', 'xdg-desktop-portal'],
  },
  { what: 'the adb server', named: ['adb'], saying: ['fork-server'] },
  { what: 'a container engine', named: ['dockerd', 'containerd', 'containerd-shim', 'containerd-shim-runc-v2', 'buildkitd', 'conmon'] },
  { what: 'a container engine', named: ['podman'], saying: [' system service'] },
  { what: 'a Gradle daemon', named: ['java'], saying: ['org.gradle.launcher.daemon.bootstrap.GradleDaemon'] },
  { what: 'a Kotlin compiler daemon', named: ['java'], saying: ['org.jetbrains.kotlin.daemon.KotlinCompileDaemon'] },
  { what: 'a Maven daemon', named: ['java'], saying: ['org.mvndaemon.mvnd.common.MavenDaemon'] },
  { what: 'a Bazel server', named: ['java'], saying: ['A-server.jar', '--install_base='] },
  { what: 'a Bazel server', named: ['bazel', 'bazel(', 'blaze'], saying: ['--install_base='] },
  { what: 'a build cache or file watcher', named: ['sccache', 'ccache', 'watchman', 'buck2', 'pantsd'] },
  { what: 'an editor', named: ['emacs'], saying: ['--daemon'] },
  { what: 'an editor', named: ['code', 'code-insiders', 'codium', 'cursor', 'windsurf', 'zed-editor', 'subl', 'sublime_text', 'gedit', 'kate'] },
  { what: 'an editor', named: ['java', 'idea', 'pycharm', 'webstorm', 'goland'], saying: ['com.intellij.idea.Main'] },
  {
    what: 'a browser',
    named: ['firefox', 'firefox-bin', 'firefox-esr', 'chrome', 'chromium', 'google-chrome', 'brave', 'msedge', 'opera', 'vivaldi'],
    unless: DRIVEN,
  },
]
