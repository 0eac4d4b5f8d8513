// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestNextToOpenSM sweeps, traces and queries next to an OpenSM that is master. Its log must have no new entries, and
// its path records must agree with the tables for 500 pairs.
func TestNextToOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	want := testenv.Count(t, 100, 500)
	for file := range smallNetFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			stateHome(t)
			subnet, err := formats.ReadWith(t.Context(), file, formats.Options{AsIbsim: true})
			if err != nil {
				t.Fatal(err)
			}
			f := subnet.Fabric
			r := testenv.Rand(t)
			sim := ibsimtest.Start(t, file)
			dir := ibsimtest.Master(t, sim, "-s", "0")
			log := filepath.Join(dir, "opensm.log")
			before := read(t, log)
			source := "ibsim:" + sim.Name
			ibconsole(t, "-s", source, "-c", "sweep; sweep light; sweep full sl2vl mft; show counters")
			if after := read(t, log); after != before {
				t.Errorf("OpenSM's log has new entries after our sweeps: %q", strings.TrimPrefix(after, before))
			}
			asked := 0
			for asked < want {
				src := f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].GUID
				out := ibconsole(t, "--json", "-s", source, "-c",
					fmt.Sprintf("sa path guid:0x%x all; trace live guid:0x%x all", src, src))
				for line := range strings.Lines(out) {
					var row struct {
						From, To json.RawMessage // names, or places
						Tables   string
					}
					if err := json.Unmarshal([]byte(line), &row); err != nil {
						t.Fatal(err)
					}
					if row.From == nil {
						continue
					}
					asked++
					if row.Tables != "agree" {
						t.Errorf("%s to %s: %s", row.From, row.To, row.Tables)
					}
				}
				if t.Failed() || len(f.EndPorts) < 3 {
					break
				}
			}
			t.Logf("%d pairs", asked)
		})
	}
}

// TestCaptureOfASession captures a sweep, a commit, a trace and queries to subnet administration, and decodes them with
// tshark.
func TestCaptureOfASession(t *testing.T) {
	tshark := testenv.Tool(t, "tshark")
	testenv.Tool(t, "opensm")
	stateHome(t)
	dir := t.TempDir()
	net, file := filepath.Join(dir, "net"), filepath.Join(dir, "session.pcap")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	master := ibsimtest.Master(t, sim, "-s", "0")
	_ = master
	out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", "show sms")
	guid := between(out, `"guid":"`, `"`)
	out = ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", strings.Join([]string{
		"capture " + file, "sweep full sl2vl mft", "engine minhop port_shifting=TRUE", "route keep=no", "write on",
		"commit yes sm=" + guid,
		"trace live node-0001 all", "sa path node-0001 all", "sa nodes", "show counters", "clear counters",
		"capture off",
	}, "; "))
	text, err := exec.CommandContext(t.Context(), tshark, "-r", file, "-V").Output()
	if err != nil {
		t.Fatal(err)
	}
	frames := strings.Count(string(text), "\nFrame ") + 1
	if frames < 1000 {
		t.Fatalf("%d frames only\n%s", frames, out)
	}
	for _, word := range []string{"Malformed", "Unknown", "unknown attribute"} {
		for line := range strings.Lines(string(text)) {
			// tshark does not know the flags of responses in one piece.
			if strings.Contains(line, word) && !strings.Contains(line, "RMPP Flags") {
				t.Errorf("tshark says: %s", line)
				break
			}
		}
	}
	for _, want := range []string{"SubnGet(NodeInfo)", "SubnSet(LinearForwardingTable)", "SubnAdmGet(PathRecord)",
		"SubnAdmGetResp(PathRecord)", "PERF (PortCounters"} {
		if !strings.Contains(string(text), want) && !strings.Contains(summary(t, tshark, file), want) {
			t.Errorf("no %s in the capture", want)
		}
	}
}

func summary(t *testing.T, tshark, file string) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), tshark, "-r", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// between returns the text after one word and before the next occurrence of another.
func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}

// TestMKeyFile checks that only a file that no other user can read is accepted, and that no message contains the key.
func TestMKeyFile(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"open to others":  {"0x1234abcd\n", 0o644, "chmod 600"},
		"no number":       {"# keys\n\nsecret5678\n", 0o600, ":3: expected"},
		"two keys":        {"0x1234abcd\n0x1234abce\n", 0o600, ":2: a second M_Key"},
		"two SA_Keys":     {"sa_key 0x1234abcd\nsa_key 0x1234abce\n", 0o600, ":2: a second SA_Key"},
		"another word":    {"sm_key 0x1234abcd\n", 0o600, ":1: expected"},
		"as opensm.conf":  {"m_key 0x1234abcd\nsa_key 0x1234abce\n", 0o600, ""},
		"empty":           {"# nothing\n", 0o600, "the file has no key"},
		"no key":          {"0x1234abcd\n0x0\n", 0o600, ":2: 0 is not a key"},
		"good":            {"0x1234abcd # of the subnet\n", 0o600, ""},
		"guid2mkey style": {"0x0002c90300000001 0x1234abcd\n0x0002c90300000002 0x1234abcd\n", 0o600, ""},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		r := try("--mkeys", file, "-s", "sim:fattree:2,4", "-c", "summary")
		if c.want == "" && r.status != exitDone || c.want != "" &&
			(r.status != exitFailed || !strings.Contains(r.err, c.want)) {
			t.Errorf("%s: status %d: %s", name, r.status, r.err)
		}
		if all := r.out + r.err; strings.Contains(all, "1234abc") || strings.Contains(all, "secret") {
			t.Errorf("%s: the key is in a message: %s", name, all)
		}
	}
	if r := try("--mkeys", dir, "-s", "sim:fattree:2,4", "-c", "summary"); r.status != exitFailed ||
		!strings.Contains(r.err, "a folder, expected a file") {
		t.Errorf("a folder: status %d: %s", r.status, r.err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	file := filepath.Join(dir, "good")
	if err := os.Chown(file, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if r := try("--mkeys", file, "-s", "sim:fattree:2,4", "-c", "summary"); r.status != exitFailed ||
		!strings.Contains(r.err, "belongs to user 12345") {
		t.Errorf("another's file: status %d: %s", r.status, r.err)
	}
}
