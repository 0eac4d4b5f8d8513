// SPDX-License-Identifier: Apache-2.0

// Package umadtest runs programs with access to umad devices. The devices are either simulated by a FUSE file system on
// top of an ibsim, or belong to a real Linux kernel in an emulator. Both tools are in the directory IBCONSOLE_SHARED.
package umadtest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
)

// limit returns the time limit of a program. It is longer in full test runs.
func limit() time.Duration {
	if testenv.Full() {
		return 40 * time.Minute
	}
	return 5 * time.Minute
}

// Build compiles a package without cgo and returns the path of the program. If the argument test is set, it compiles
// the tests of the package.
func Build(t testing.TB, pkg string, test bool) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	args := []string{"build", "-o", program, pkg}
	if test {
		args = []string{"test", "-c", "-o", program, pkg}
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %q: %v\n%s", args, err, out)
	}
	return program
}

// Devices returns a function that runs a program and returns the output of the program. The program has access to
// adapter ibsim0 and its umad device, on the ibsim with the given IBSIM_SOCKNAME. The test is skipped if the devices
// cannot be created, and fails if the program fails.
func Devices(t testing.TB, socket string) func(program ...string) string {
	t.Helper()
	with := testenv.SharedFile(t, "umadfs/with-umad")
	for _, tool := range []string{"fusermount3", "pkg-config", "gcc", "unshare"} {
		testenv.Tool(t, tool)
	}
	if os.Geteuid() != 0 {
		t.Skip("mounting the devices requires root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skipf("the devices require FUSE: %v", err)
	}
	return func(program ...string) string {
		t.Helper()
		out, err := run(t, append([]string{with, "-s", socket, "--"}, program...))
		if err != nil {
			t.Fatalf("%q: %v\n%s", program, err, out)
		}
		return out
	}
}

// Kernel returns a function that runs a static program under a real Linux kernel. The kernel has a Soft-RoCE port, or
// no RDMA modules unless the argument modules is set. After some ten seconds the function returns the output of the
// program, including errors, and the exit status. If the emulator is not installed, the test is skipped; with
// IBCONSOLE_FULL=1 and CI=true the test fails.
func Kernel(t testing.TB, modules bool) func(program ...string) (out string, status int) {
	t.Helper()
	args := []string{testenv.SharedFile(t, "kernel-umad/with-kernel-umad")}
	for _, tool := range []string{"qemu-system-x86_64", "busybox", "cpio", "depmod", "apt-get"} {
		if _, err := exec.LookPath(tool); err != nil && !testenv.Full() {
			t.Skipf("a real kernel requires Debian's qemu-system-x86, busybox-static, cpio and kmod: %v", err)
		}
		testenv.Tool(t, tool)
	}
	if !modules {
		args = append(args, "-n")
	}
	return func(program ...string) (string, int) {
		t.Helper()
		out, err := run(t, append(args, program...))
		exit, failed := errors.AsType[*exec.ExitError](err)
		switch {
		case err == nil:
			return out, 0
		case !failed || exit.ExitCode() == 124:
			t.Fatalf("%q: %v\n%s", program, err, out)
		}
		return out, exit.ExitCode()
	}
}

// run returns the output of a program. If the program fails, run also returns its errors. A program that exceeds the
// limit is ended together with all its children.
func run(t testing.TB, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), limit())
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if err != nil {
		out.Write(stderr.Bytes())
	}
	return out.String(), err
}
