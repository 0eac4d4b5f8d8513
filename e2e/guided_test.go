// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// onPTY runs the program on a terminal and types answers, each after the expected number of prompts.
func onPTY(t *testing.T, answers []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	var out bytes.Buffer
	buffer := make([]byte, 4096)
	for {
		n, err := tty.Read(buffer)
		out.Write(buffer[:n])
		if text := out.String(); len(answers) > 0 && strings.HasSuffix(text, ": ") {
			if _, err := io.WriteString(tty, answers[0]+"\n"); err != nil {
				t.Fatal(err)
			}
			answers = answers[1:]
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if len(answers) > 0 {
		t.Errorf("not asked for: %q\n%s", answers, out.String())
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}

// TestGuided answers the questions of dump and load on a terminal, some of them wrongly at first. The commands that are
// shown at the end must do the same.
func TestGuided(t *testing.T) {
	stateHome(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const sim = "sim:fattree:2,8"
	out := onPTY(t, []string{"nothing", "live", "99", "lfts", at("none/a"), at("a b"), ""}, "-s", sim, "-c",
		"dump guided")
	for _, want := range []string{`"nothing" is not one of the choices`, `"99" is not one of the choices`,
		"no such file",
		"dump lfts '" + at("a b") + "' of=live", "written to"} {
		if !strings.Contains(out, want) {
			t.Errorf("dump does not print %q:\n%s", want, out)
		}
	}
	ibconsole(t, "-s", sim, "-c", "dump lfts "+at("same")+" of=live")
	sameFile(t, at("same"), at("a b"))

	out = onPTY(t, []string{"", "lfts", at("a b"), "no", at("c"), "no"}, "-s", sim, "-c", "dump guided")
	if _, err := os.Stat(at("c")); err == nil || !strings.Contains(out, " exists. Replace it?") ||
		!strings.Contains(out, "nothing was done") {
		t.Errorf("%v\n%s", err, out)
	}

	out = onPTY(t, []string{at("gone"), at("same"), "topology", "", "yes", ""}, "-s", sim, "-c", "load guided")
	for _, want := range []string{
		"does not exist", "kind [lfts]: ", "12 of its 12 switches", "0 entries differ from those of live.",
		"nothing is written to switches", "  load lfts " + at("same"), "staged, not written",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("load does not print %q:\n%s", want, out)
		}
	}
	for _, command := range []string{"dump guided", "load guided", "engine guided", "fail guided"} {
		if r := try("-s", sim, "-c", command); r.status != exitFailed ||
			!strings.Contains(r.err, "require a terminal") {
			t.Errorf("%s without a terminal: status %d, %s", command, r.status, r.err)
		}
	}
}

// TestGuidedEngine chooses an engine and options, some of them wrongly at first. The settings must be those of the
// command shown.
func TestGuidedEngine(t *testing.T) {
	stateHome(t)
	order := filepath.Join(t.TempDir(), "the order")
	if err := os.WriteFile(order, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	answers := []string{"fastest", "updn", "lmc", "9", "2", "guid_routing_order_file", order + "x", order,
		"connect_roots", "yes", "lmc", "", ""}
	out := onPTY(t, answers, "-s", "sim:fattree:2,4", "-c", "engine guided; engine")
	for _, want := range []string{`"fastest" is not one of the choices`, "expected 0 to 7", "no such file",
		`"lmc" is not one of the choices`,
		"  engine updn lmc=2 ", "guid_routing_order_file='" + order + "'", "connect_roots=yes"} {
		if !strings.Contains(out, want) {
			t.Errorf("engine does not print %q:\n%s", want, out)
		}
	}
}

// TestGuidedFail simulates failures of a cable, a switch, a host, a chassis and random links.
func TestGuidedFail(t *testing.T) {
	stateHome(t)
	for _, c := range []struct {
		answers []string
		says    []string
	}{
		{
			[]string{"cable", "", "nobody", "node-0001", "2", "1", ""}, []string{`"cable" is not one of the choices`,
				"nobody", `"2" is not one of the choices`, "  fail link node-0001 1\n",
				"failed in the what-if: link node-0001"},
		},
		{
			[]string{"2", "node-0001", "leaf-01", ""}, []string{"is not a switch", "  fail switch leaf-01\n",
				"failed in the what-if: switch leaf-01"},
		},
		{[]string{"node", "node-0002", "no"}, []string{"  fail node node-0002\n", "nothing was done"}},
		{
			[]string{"director", "moon*", "leaf*", ""}, []string{`begins with "moon"`, "  fail director 'leaf*'\n",
				"failed in the what-if: director leaf*"},
		},
		{
			[]string{"random", "0", "1000", "2", "x", "7", ""}, []string{"expected 1 to 8", `"x" is not a seed`,
				"  fail random 2 seed=7\n", "failed in the what-if: link"},
		},
	} {
		out := onPTY(t, c.answers, "-s", "sim:fattree:2,4", "-c", "fail guided")
		for _, want := range c.says {
			if !strings.Contains(out, want) {
				t.Errorf("%q: fail does not print %q:\n%s", c.answers, want, out)
			}
		}
	}
}
