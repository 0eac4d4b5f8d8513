// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// readByOpenSM lets OpenSM read a configuration and write the values that it uses. It also returns the output of
// OpenSM.
func readByOpenSM(t *testing.T, conf string) (used map[string]string, output string) {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	writeFile(t, in, []byte(conf))
	cmd := exec.Command(testenv.Tool(t, "opensm"), "-F", in, "-c", out)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OSM_") })
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("opensm: %v\n%s\n%q", err, text, conf)
	}
	used = map[string]string{}
	for line := range strings.Lines(string(dump(t, dir, "out"))) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && name != "#" {
			used[name] = value
		}
	}
	return used, string(text)
}

// sameConf compares all options except those of congestion control that are kept as text.
func sameConf(t *testing.T, conf string) {
	t.Helper()
	c, err := ReadConf(strings.NewReader(conf), "conf")
	if err != nil {
		t.Fatal(err)
	}
	used, output := readByOpenSM(t, conf)
	for _, d := range confDefs {
		theirs, ok := used[d.Name]
		if d.For != "" || d.Type == ConfText || d.Type == ConfPerSL {
			continue
		}
		ours := c.Value(d.Name)
		switch d.Type {
		case ConfString:
			if theirs == "(null)" {
				theirs = ""
			}
		case ConfUint8, ConfUint16, ConfUint32:
			v, rest, _ := cUnsigned(theirs)
			if rest != "" {
				t.Fatalf("OpenSM writes %s %q", d.Name, theirs)
			}
			theirs = fmt.Sprint(uint32(v)) // OpenSM writes scatter_ports as a signed number
		}
		if !ok || ours != theirs {
			t.Fatalf("%s: OpenSM uses %q (%v), we use %q, of\n%q\n%s\n%s", d.Name, theirs, ok, ours, conf,
				c.Notes, output)
		}
	}
	if unknown := strings.Count(output, "Unrecognized token"); unknown != len(c.Unknown) {
		t.Fatalf("%d words are unknown to OpenSM, %v to us, of\n%q\n%s", unknown, c.Unknown, conf, output)
	}
	for ours, theirs := range map[string][]string{
		"OpenSM skips the line": {"-E- Parsing error", "digit in bitmask", "length bitmask"},
	} {
		ourCount, theirCount := 0, 0
		for _, n := range c.Notes {
			ourCount += strings.Count(n.Text, ours)
		}
		for _, text := range theirs {
			theirCount += strings.Count(output, text)
		}
		if ourCount != theirCount {
			t.Fatalf("OpenSM prints %q %d times, we note %q %d times, of\n%q\n%s\n%s", theirs, theirCount, ours,
				ourCount, conf, c.Notes, output)
		}
	}
}

// TestConfDefaults compares the names and defaults of options with the ones that OpenSM writes. Old names of an option
// are the only additional ones.
func TestConfDefaults(t *testing.T) {
	sameConf(t, "")
	used, _ := readByOpenSM(t, "")
	known := 0
	for _, d := range confDefs {
		if _, ok := used[d.Name]; ok != (d.For == "") {
			t.Errorf("%s: OpenSM writes it: %v", d.Name, ok)
		}
		if d.For == "" {
			known++
		}
	}
	if known != len(used) {
		t.Errorf("%d options, OpenSM has %d", known, len(used))
	}
}

// TestConfAsOpenSM compares random configurations with the values that OpenSM uses.
func TestConfAsOpenSM(t *testing.T) {
	rnd := testenv.Rand(t)
	for range testenv.Count(t, 60, 1500) {
		sameConf(t, randomConf(rnd))
	}
}

func randomConf(rnd *rand.Rand) string {
	defs := slices.SortedFunc(maps.Values(confDefs), func(a, b ConfDef) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	for range 1 + rnd.IntN(30) {
		d := defs[rnd.IntN(len(defs))]
		if rnd.IntN(3) == 0 {
			for d.Affects == 0 {
				d = defs[rnd.IntN(len(defs))]
			}
		}
		name := d.Name
		var value string
		switch {
		case d.Type == ConfBool:
			value = pick("TRUE", "FALSE", "true", "1", "", "\"TRUE\"", "TRUE ", "'TRUE'", "TRUE\r")
		case d.Type == ConfString && name != "console" && name != "part_enforce":
			value = pick("(null)", "", "/etc/a", "\"/etc/a b\"", "'x", "\"", "updn,minhop,no_fallback", "a\"b", "'a'b'",
				" x  y ", "\"(null)\"", "\"a#b\"")
		case d.Type == ConfString:
			value = pick("off", "both", "in", "out", "local", "x", "", "\"off\"")
		case d.Type == ConfPerSL || d.Type == ConfText:
			continue
		case d.Type == ConfMask:
			value = pick("0x1", "ff", "0X"+strings.Repeat("Ab", 32), strings.Repeat("1", 70), "0x", "zz", "")
		default:
			value = pick("0", "1", "2", "3", "7", "8", "15", "16", "30", "31", "0x1f", "010", "09", "255", "256",
				"65535", "65536", "4294967295",
				"4294967296", "-1", "-5", "+5", "abc", "5x", "\"5\"", "' 5'", "5 6", "", "18446744073709551615",
				"18446744073709551616", "2147483648",
				fmt.Sprint(rnd.IntN(300)))
		}
		switch rnd.IntN(30) {
		case 0:
			name = pick("max_rate_enum", "LMC", "lmc=2", "\r", name+"x", strings.Repeat("n", 200))
		case 1:
			value += strings.Repeat(" ", 1000) + "lmc 5"
		case 2:
			value += " # comment"
		case 3:
			value += "\x00lmc 3"
		}
		fmt.Fprintf(&b, "%s%s%s%s%s", pick("", "", "", " ", "\t", "#"), name, pick(" ", " ", "\t", "  \t", ""), value,
			pick("\n", "\n", "\n", " \n", "\n\n", "\r\n"))
	}
	return b.String()
}

func TestConfMethods(t *testing.T) {
	c, err := ReadConf(strings.NewReader("lmc 2\nlmc_esp0 TRUE\ndimn_ports_file /x\nsweep_interval 5\ntorus_config "+
		"(null)\nqos FALSE\nguid 0x2a\n"), "conf")
	if err != nil {
		t.Fatal(err)
	}
	if c.Uint("lmc") != 2 || !c.Bool("lmc_esp0") || c.Bool("reassign_lids") || c.Bool("honor_guid2lid_file") {
		t.Errorf("options %+v", c.Options)
	}
	if got := c.Get("port_search_ordering_file"); got != "/x" {
		t.Errorf("port_search_ordering_file %q, expected the value of dimn_ports_file", got)
	}
	if got := c.Value("torus_config"); got != "" {
		t.Errorf("torus_config %q, expected none", got)
	}
	if got := c.Uint("guid"); got != 42 {
		t.Errorf("guid %d, expected 42", got)
	}
}

func TestConf(t *testing.T) {
	c, err := ReadConf(strings.NewReader("lmc 1\n lmc\t2 # now\nroot_guid_file \"/a b\"\nids_guid_file "+
		"(null)\nqos\nfoo 1\nfoo 2\n#lmc 3\n"), "conf")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(c.Options), "[{lmc 2 2} {root_guid_file /a b 3} {qos FALSE 5}]"; got != want {
		t.Errorf("options %s, want %s", got, want)
	}
	want := "[conf:5: qos: \"\" is not TRUE or FALSE; OpenSM uses FALSE]"
	if got := fmt.Sprint(c.Notes); got != want {
		t.Errorf("notes %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(c.Unknown), "[{foo 1 6} {foo 2 7}]"; got != want {
		t.Errorf("unknown %s, want %s", got, want)
	}
}

func FuzzConf(f *testing.F) {
	f.Add("routing_engine updn,minhop\nlmc 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadConf(strings.NewReader(text), "conf")
		if err != nil {
			t.Fatal(err)
		}
		if c.Uint("lmc") > 7 || c.Uint("fdr10") > 2 || c.Value("part_enforce") == "" {
			t.Errorf("options %v", c.Options)
		}
	})
}
