// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// What opensm --help prints of flags: "--lmc, -l <LMC>", with a value where more follows.
var helpLine = regexp.MustCompile(`(?m)^--(\w[\w-]*)(?:, -(.))?(?:, -\?)?(.*)$`)

// TestFlagsAreOpenSMs: the flags are those of opensm --help, short and long, with a value where it has one.
func TestFlagsAreOpenSMs(t *testing.T) {
	out, _ := exec.Command(testenv.Tool(t, "opensm"), "--help").CombinedOutput() // it ends with 1 or 0
	var theirs, ours []string
	for _, m := range helpLine.FindAllStringSubmatch(string(out), -1) {
		rest := strings.TrimSpace(strings.Replace(m[3], "(DEPRECATED)", "", 1))
		short := m[2]
		if m[1] == "dimn_ports_file" {
			short = "" // it shares -O with its newer name
		}
		theirs = append(theirs, line(m[1], short, rest != ""))
	}
	for _, f := range flags {
		if f.long != "" {
			ours = append(ours, line(f.long, strings.Trim(string(f.short), "\x00"), f.takes))
		}
	}
	slices.Sort(theirs)
	slices.Sort(ours)
	if len(theirs) < 60 || !slices.Equal(theirs, ours) {
		t.Errorf("OpenSM has\n%s\nhere are\n%s", strings.Join(theirs, "\n"), strings.Join(ours, "\n"))
	}
}

func line(long, short string, takes bool) string {
	if takes {
		short += " VALUE"
	}
	return long + " " + short
}

func TestReadFlags(t *testing.T) {
	for _, tt := range []struct{ words, want string }{
		{
			"-R updn -a F -u G -A -r -i H -Q -l 1", "updn  root_guid_file=F cn_guid_file=G use_ucast_cache=TRUE " +
				"reassign_lids=TRUE port_prof_ignore_file=H qos=TRUE lmc=1 ",
		},
		{"-ArQl1", "  use_ucast_cache=TRUE reassign_lids=TRUE qos=TRUE lmc=1 "},
		{
			"--routing_engine=updn,minhop --lmc=2 --root F --port-",
			"updn,minhop  lmc=2 root_guid_file=F port_shifting=TRUE ",
		},
		{"-F conf -R dor", "dor conf "},
		{"-l 1 -l -3", "  lmc=-3 "},
		{"-o -f log -ot 5", "  | -o, -f, -t: no effect on routes"},
		{
			"-R chain,dor",
			`dor  | -R: the engine "chain" of NVIDIA's OpenSM is not modelled; where it routes, ` +
				"what follows of the chain is only an estimate",
		},
		{"-R nue -Q --nue_max_num_vls 4", "nue  qos=TRUE nue_max_num_vls=4 "},
		{"-j", `OpenSM has no flag "-j"`},
		{"-Aj", `OpenSM has no flag "-j"`},
		{"--root_guid x --lmcs 1", "OpenSM has no flag --lmcs"},
		{"--port 1", "--port may be any of --port-shifting, --port_search_ordering_file"},
		{"-A -a", "-a has no value"},
		{"--qos=yes", "--qos takes no value"},
		{"-c x", "flag -c is refused: it makes OpenSM end without routing"},
		{"-A updn", `unexpected word "updn" among OpenSM's flags`},
	} {
		f, err := ReadFlags(strings.Fields(tt.words))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = strings.Join(f.Chain, ",") + " " + f.Conf + " "
			for _, g := range f.Given {
				got += g.Name + "=" + g.Value + " "
			}
			if len(f.Notes) > 0 {
				got += "| " + strings.Join(f.Notes, " | ")
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.words, got, tt.want)
		}
	}
}
