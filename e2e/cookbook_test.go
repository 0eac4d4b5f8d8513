// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// recipe is a script of docs/cookbook.md in a folder of its own, with the built program in its PATH.
type recipe struct {
	t   *testing.T
	dir string
}

// cookbook writes the scripts and units of docs/cookbook.md to a folder, each under the name in its comment.
func cookbook(t *testing.T) recipe {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "ibconsole")); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^# ([\w.-]+)`)
	for _, block := range codeBlocks(read(t, "../docs/cookbook.md")) {
		name := named.FindStringSubmatch(block.text)
		if name == nil {
			t.Fatalf("a block of docs/cookbook.md has no name: %s", block.text)
		}
		mode := os.FileMode(0o644)
		if block.language == "sh" {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, name[1]), []byte(block.text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return recipe{t, dir}
}

// run starts a script with a subnet and returns its output and whether it succeeded.
func (r recipe) run(source, name string, args ...string) (string, bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(r.dir, name), args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+r.dir+":"+os.Getenv("PATH"), "IBCONSOLE_SOURCE="+source,
		"STATE_DIRECTORY="+filepath.Join(r.dir, "night"), "XDG_STATE_HOME="+filepath.Join(r.dir, "state"))
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// want runs a script and compares its success and its output: each line of the text must be part of the output.
func (r recipe) want(ok bool, text, source, name string, args ...string) {
	r.t.Helper()
	out, succeeded := r.run(source, name, args...)
	if succeeded != ok {
		r.t.Errorf("%s with %s: success is %v, want %v:\n%s", name, source, succeeded, ok, out)
	}
	if text == "" && out != "" {
		r.t.Errorf("%s with %s prints %q, want nothing", name, source, out)
	}
	for line := range strings.Lines(text) {
		if !strings.Contains(out, strings.TrimSuffix(line, "\n")) {
			r.t.Errorf("%s with %s does not print %q:\n%s", name, source, line, out)
		}
	}
}

// TestCookbook runs each script of the cookbook on a healthy subnet and on one that lost a link.
func TestCookbook(t *testing.T) {
	r := cookbook(t)
	const healthy = "sim:fattree:2,4"
	r.want(true, "", healthy, "alert-congestion")
	r.want(false, "slow receiver  leaf-03/1", healthy+" flow=node-[0001-0002]:node-0005:80% drain=node-0005:30%",
		"alert-congestion")
	// Each of the 4 leaves has a link to each of the 2 spines, so the loss of one leaves all pairs connected.
	ibconsole(t, "-s", healthy, "-c", "dump topology "+r.dir+"/good.topo; fail link leaf-01 3; route; dump snapshot "+
		r.dir+"/damaged.snap; dump topology "+r.dir+"/damaged.topo")
	damaged := "file:" + r.dir + "/damaged.snap"

	r.want(true, "", healthy, "nightly-compare")
	r.want(true, "", healthy, "nightly-compare")
	r.want(false, "leaf-01/3\n", damaged, "nightly-compare")
	r.want(true, "", damaged, "nightly-compare")

	r.want(true, "", healthy, "alert-problems", r.dir+"/good.topo")
	r.want(false, "leaf-01/3\n", damaged, "alert-problems", r.dir+"/good.topo")

	minhop := filepath.Join(r.dir, "opensm.conf")
	if err := os.WriteFile(minhop, []byte("routing_engine minhop\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.want(true, `"verdict":"ok"`, healthy, "check-fabric", r.dir+"/good.topo", minhop)
	// Shortest paths around a ring of 6 switches depend on each other in a circle.
	ring := filepath.Join(r.dir, "ring.topo")
	ibconsole(t, "-s", "sim:torus:6", "-c", "dump topology "+ring)
	r.want(false, `"verdict":"found"`, healthy, "check-fabric", ring, minhop)

	out, ok := r.run(healthy, "job-paths", "node-0001", "node-0003", "node-0008")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); !ok || len(lines) != 1+3*2 {
		t.Errorf("job-paths prints %d lines, expected a heading and 6 pairs of 3 hosts:\n%s", len(lines), out)
	}

	r.want(false, "no node is called \"nope\"", healthy, "job-paths", "nope", "node-0001")
	r.want(true, "node-0002 HCA-1/1", healthy, "job-paths", "node-0001", "node-0002 HCA-1")
	r.want(false, "usage: job-paths", healthy, "job-paths")

	if _, err := exec.LookPath("jq"); err != nil {
		t.Log("links-by-speed was not run: jq is not installed")
	} else {
		// 8 hosts and 4 x 2 links between switches, all NDR.
		r.want(true, "16 4xNDR", healthy, "links-by-speed")
	}
	r.verifyUnits()
	r.cronLines()
}

// verifyUnits lets systemd check the units.
func (r recipe) verifyUnits() {
	r.t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		r.t.Log("the units were not verified: systemd-analyze is not installed")
		return
	}
	for _, name := range []string{"nightly-compare.service", "nightly-compare.timer"} {
		file := filepath.Join(r.dir, name)
		text := strings.ReplaceAll(read(r.t, file), "/usr/local/bin/", r.dir+"/")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(r.t.Context(), "systemd-analyze", "verify", "--man=no",
		filepath.Join(r.dir, "nightly-compare.timer"))
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "nightly-compare") {
		r.t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// cronLines compares the lines of the crontab with crontab(5) of /etc/cron.d: five fields of time, a user, a command.
func (r recipe) cronLines() {
	r.t.Helper()
	line := regexp.MustCompile(`^([\d*/,-]+\s+){5}root\s+/usr/local/bin/(\S+)( .*)?$`)
	jobs := 0
	for text := range strings.Lines(read(r.t, filepath.Join(r.dir, "ibconsole.cron"))) {
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "#") || strings.HasPrefix(text, "IBCONSOLE_SOURCE=") {
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil {
			r.t.Errorf("%q is no line of a crontab", text)
			continue
		}
		jobs++
		if _, err := os.Stat(filepath.Join(r.dir, m[2])); err != nil {
			r.t.Errorf("the crontab names a script that the cookbook does not have: %v", err)
		}
	}
	if jobs == 0 {
		r.t.Error("the crontab has no job")
	}
}
