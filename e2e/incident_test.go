// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// archived returns the files of an archive by name.
func archived(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[h.Name] = string(b)
	}
}

// TestIncident commits a failure, and writes the archive of that time with and without masking. The archive opens as
// the states before and after. The masked one has no name and no GUID of the subnet, and names everything alike.
func TestIncident(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	in := func(name string) string { return filepath.Join(dir, name) }
	now := time.Now()
	line := func(at time.Time, text string) string {
		return at.Format("Jan _2 15:04:05") + " 000000 [AB] 0x02 -> " + text + "\n"
	}
	log := line(now.Add(-3*time.Hour), "long before: leaf-01") +
		line(now, "osm_drop_mgr: Removed port with GUID:0x0000000000200001 LID range [1,1] of node:leaf-02") +
		line(now, "f: a host at 10.1.2.3, and again 10.1.2.3")
	if err := os.WriteFile(in("opensm.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	out := ibconsole(t, "-s", "sim:fattree:2,8", "-c", fmt.Sprintf("dump lfts %s of=live; dump topology %s of=live; "+
		"fail link leaf-01/5; route; write on; commit yes; diff 1 2; dump lfts %s of=live; "+
		"report incident %s since=1h smlog=%s; report incident %s since=1h mask=yes smlog=%s", in("before.lfts"),
		in("net"), in("after.lfts"), in("plain.tar.gz"), in("opensm.log"), in("masked.tgz"), in("opensm.log")))
	pairs := regexp.MustCompile(`pairs with another path +(\d+) of`).FindStringSubmatch(out)
	if pairs == nil {
		t.Fatalf("no pairs in %s", out)
	}
	read := func(name string) string {
		b, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	secret := regexp.MustCompile(`(?i)leaf-\d+|spine-\d+|node-\d+|0x0*[12]0000[0-9a-f]\b|10\.1\.2\.3|` +
		regexp.QuoteMeta(dir))
	aliases := regexp.MustCompile(`(host|switch)-\d+`)
	entries := regexp.MustCompile(`(?m)^0x[0-9A-F]+ \d+`)
	for _, archive := range []string{"plain.tar.gz", "masked.tgz"} {
		masked := archive == "masked.tgz"
		all := archived(t, in(archive))
		for _, name := range []string{
			"README.txt", "problems.json", "events.json", "changes.json", "traces.txt", "sm.log", "before.snapshot",
			"after.snapshot",
		} {
			if all[name] == "" {
				t.Errorf("%s: no %s", archive, name)
			}
			if found := secret.FindString(all[name]); masked && found != "" {
				t.Errorf("%s: %s has %q", archive, name, found)
			}
		}
		if n := strings.Count(all["traces.txt"], "  before: "); fmt.Sprint(n) != pairs[1] {
			t.Errorf("%s: traces of %d pairs, want %s", archive, n, pairs[1])
		}
		if n := strings.Count(all["sm.log"], "\n"); n != 2 || strings.Contains(all["sm.log"], "long before") {
			t.Errorf("%s: the log of the subnet manager: %q", archive, all["sm.log"])
		}
		if !strings.Contains(all["README.txt"], "counters: nothing was recorded") {
			t.Errorf("%s: the missing counters are not listed: %s", archive, all["README.txt"])
		}
		for _, state := range []string{"before", "after"} {
			ibconsole(t, "-s", "file:"+in(archive)+"/"+state, "-c",
				"dump lfts "+in("got.lfts")+"; dump topology "+in("got.net"))
			got, want := read("got.lfts"), read(state+".lfts")
			net := read("got.net")
			if masked {
				if found := secret.FindString(got + net); found != "" {
					t.Errorf("%s/%s has %q", archive, state, found)
				}
				got = strings.Join(entries.FindAllString(got, -1), "\n")
				want = strings.Join(entries.FindAllString(want, -1), "\n")
				for _, name := range aliases.FindAllString(all["traces.txt"]+all["sm.log"], -1) {
					if !strings.Contains(net, `"`+name) {
						t.Fatalf("%s/%s has no %s", archive, state, name)
					}
				}
			}
			if got == "" || got != want {
				t.Errorf("%s/%s: other tables than on the switches", archive, state)
			}
		}
		if a, b := ibconsole(t, "-s", "file:"+in(archive), "-c", "dump lfts -"), read("after.lfts"); !masked && a != b {
			t.Errorf("%s alone is not the state after", archive)
		}
	}
	if read("before.lfts") == read("after.lfts") {
		t.Error("the states do not differ")
	}
}
