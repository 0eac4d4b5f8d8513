// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/shell/lang"
)

func TestConfig(t *testing.T) {
	c, err := ReadConfig(strings.NewReader("# mine\ntheme light\n\nmouse off\nkey sweep = F5 ctrl+r\nkey copy =\nkey "+
		"freeze = space\nkey quit = Q q\n"), "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Theme != "light" || !c.NoMouse || !slices.Equal(c.Keys["sweep"], []string{"f5", "ctrl+r"}) ||
		len(c.Keys["copy"]) != 0 || c.Keys["freeze"][0] != " " {
		t.Errorf("%+v", c)
	}
	for text, want := range map[string]string{
		"\ntheme pink": `f:2: ` +
			`unknown theme "pink", expected one of dark, light, contrast, none`,
		"mouse maybe": `f:1: mouse is "maybe", expected on or off`,
		"colour blue": `f:1: unknown word "colour", ` +
			`expected theme, skin, mouse, pane, key, bind, alias or columns`,
		"key jump = j":                               `f:1: unknown action "jump"`,
		"key sweep":                                  `f:1: expected key ACTION = KEYS`,
		"key sweep = hyper+x":                        `f:1: unknown key "hyper+x"`,
		"key quit =":                                 `f:1: quit must have a key`,
		"theme dark\nkey sweep = q":                  `f: quit has no key left; bind it to another key: key quit = KEY`,
		"bind f5 = problems\nkey sweep = f5":         `f:2: key F5 is assigned to sweep and to problems`,
		"bind f5 = problems\nbind f5 = summary":      `f:2: key F5 is assigned to problems and to summary`,
		"\nbind f5":                                  `f:2: expected bind KEY = COMMAND, found "f5"`,
		"bind f5 = 'x":                               `f:1: `,
		"bind f5 = ! a; b":                           `f:1: expected one program after !; !! runs a line with sh`,
		"\ncolumns Lft":                              `f:2: expected columns PANE = HEAD, HEAD..., found "Lft"`,
		"columns Lod = LID":                          `f:1: unknown pane "Lod", expected one of Problems, LFT, Trace, `,
		"columns Topology = name":                    `f:1: unknown pane "Topology", expected one of Problems, LFT, `,
		"mouse off\ncolumns LFT = LID, hop":          `f:2: unknown column "hop" of LFT, expected one of LID, `,
		"columns trace = reverse, LID, node, Node":   `f:1: the column node is named twice`,
		"columns LFT = LID\ncolumns lft = port":      `f:2: the columns of LFT are defined twice`,
		"alias w":                                    `f:1: expected alias WORD = COMMAND, found "w"`,
		"alias w = a\nalias w = b":                   `f:2: the alias w is defined twice`,
		"key sweep = f9\nkey watch = f9":             `f:2: key F9 is assigned to`,
		"key sweep = " + strings.Repeat("y", 70_000): `f:1: `,
		"theme pink\n#\nmouse off\npane": "f:1: unknown theme \"pink\", expected one of dark, light, " +
			"contrast, none\nf:4: unknown pane \"\", ",
	} {
		if _, err := ReadConfig(strings.NewReader(text), "f", nil); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
}

// TestReboundKeys checks that an action has its new key only, and that the footer shows it.
func TestReboundKeys(t *testing.T) {
	c, err := ReadConfig(strings.NewReader("key trace-from = F2\nkey help = Z"), "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := drive(t, tree)
	d.m.actions = c.rebound(d.m.keymap())
	d.press("2", "j", "t").sees("! t has no action").sees("F2 from", "Z keys")
	d.press("Z").sees("Find and open").press("esc")
}

// TestOwnKeys checks commands and programs on keys, with the variables of the selected row, and aliases. A key of the
// file takes precedence over the default.
func TestOwnKeys(t *testing.T) {
	c, err := ReadConfig(strings.NewReader("bind t = show ports $NODE\nbind f6 = ! prog $NODE $PORT\n"+
		"alias w = who uses"), "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := drive(t, tree).size(120, 36)
	d.m.config, d.m.actions = &c, append(c.rebound(d.m.keymap()), c.actions(d.m)...)
	d.press("2", "/", "leaf-07", "enter", "t").sees("show ports leaf-07")
	d.press(":w spine-01", "enter").sees("who uses spine-01")
	d.m.perform(d.m.action("bind f6"))
	d.sees("F6: there is no shell on this terminal")
	if a := d.m.action("trace-from"); len(a.Keys()) > 0 {
		t.Errorf("trace-from has the keys %v", a.Keys())
	}
	d.press("?", "/", "Your own").press("esc", "esc")
	if got := replaced("a $NODE b$NODE_X", map[string]string{"NODE": "x y; $PORT"}, lang.Quote); got !=
		"a 'x y; $PORT' b$NODE_X" {
		t.Error(got)
	}
}

// TestChosenColumns checks the heads and the order of the columns that the file names. The keys, a view without these
// columns, and exports are checked, too.
func TestChosenColumns(t *testing.T) {
	d := drive(t, tree).size(160, 40)
	choose := func(text string) {
		c, err := ReadConfig(strings.NewReader(text), "f", nil)
		if err != nil {
			t.Fatal(err)
		}
		c.pickColumns(d.m.all)
	}
	head := func() string {
		return strings.Join(strings.Fields(strings.Trim(strings.Split(d.screen(), "\n")[3], "│┃║┆┇█")), " ")
	}
	shows := func(want string) {
		t.Helper()
		if got := head(); got != want {
			t.Errorf("the heads are %q, want %q", got, want)
		}
	}
	choose("columns lft = next hop, lid, Port\ncolumns Load = PATHS, from")
	d.press("6", "z")
	if got := head(); !strings.HasSuffix(got, " paths from") { // the map is on the left
		t.Errorf("Load has the heads %q", got)
	}
	d.press("z", "3", "z")
	shows("next hop LID port")
	d.press("s").sees("by next hop").press("s", "s").sees("by LID").press("/", "leaf-02", "enter").sees("filter")
	if text := d.m.pane().Base().PlainText(nil, true); !strings.Contains(text, "destination") {
		t.Errorf("an export has the heads %s", text)
	}
	d.press("esc", "b")
	shows("next hop port")
	// A column that names the row stays.
	choose("columns LFT = link, next hop")
	shows("port link next hop")
	d.press("b")
	shows("LID link next hop")
	choose("columns LFT = destination, port")
	shows("destination port")
	d.press("b")
	choose("columns LFT = LID")
	if got := head(); !strings.HasPrefix(got, "port next hop link LIDs") {
		t.Errorf("a view without the chosen columns has the heads %q", got)
	}
	d = drive(t, "sim:torus:4x4x3").size(160, 40).press("1", "z")
	choose("columns Problems = problem")
	shows("object problem")
}

// TestProgramWords checks that a name of a node is one argument, and that it cannot become an option.
func TestProgramWords(t *testing.T) {
	for text, want := range map[string]string{
		"! prog -c 3 host":          `["prog" "-c" "3" "host"]`, // without the variable, options are the user's own
		"! prog --node=$NODE":       `["prog" "--node=-rf $(x)"]`,
		"! prog -- '/x/$NODE' $LID": `["prog" "--" "/x/-rf $(x)" "7"]`,
		"! prog $NODE":              "",
		`! prog -n "$NODE"`:         "",
	} {
		words, err := programWords(text, map[string]string{"NODE": "-rf $(x)", "LID": "7"})
		if got := fmt.Sprintf("%q", words); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%s: %s, %v; expected %s", text, got, err, want)
		}
	}
}

// TestProgramEnds checks that the log does not show a program as running after it has returned the terminal.
func TestProgramEnds(t *testing.T) {
	d := drive(t, tree).size(120, 36)
	b := Bind{Key: "f6", Text: "!! true"}
	if b.start(d.m, nil) == nil {
		t.Fatal("no command")
	}
	d.send(shellMsg{what: b.Text})
	d.press("8").sees("!! true", "back from !! true").misses("running")
}

// TestNewKeys checks that changes of keys are shown once, and never to a new user.
func TestNewKeys(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "keys-seen")
	seen := func() int {
		n, err := seenKeys(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := seen(); n != len(keyChanges) {
		t.Errorf("a new user has seen %d changes", n)
	}
	showNewKeys(drive(t, tree).m, path, false)
	if n := seen(); n != len(keyChanges) {
		t.Errorf("the file has %d changes", n)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "state", "commands"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := drive(t, tree).size(120, 36)
	showNewKeys(d.m, path, true)
	d.misses("New and moved keys")
	showNewKeys(d.m, path, false)
	d.settle()
	d.sees("New and moved keys", "(was Space)").press("3").misses("New and moved keys").sees("›3 LFT")
	showNewKeys(d.m, path, false)
	d.settle()
	d.misses("New and moved keys")
}

// TestFirstPane checks that the configuration chooses the pane that has the focus at the start: one by its name, or the
// one that the user chose last. Errors of the subnet do not take the focus from it.
func TestFirstPane(t *testing.T) {
	const loops = "sim:torus:4x4x3" // minhop has credit loops on a torus
	file := filepath.Join(t.TempDir(), "state", "pane")
	open := func(from, line string) *driver {
		c, err := ReadConfig(strings.NewReader(line), "f", nil)
		if err != nil {
			t.Fatal(err)
		}
		return drive(t, from, func(m *model) {
			if err := openFirst(t.Context(), []*model{m}, c.Pane, file); err != nil {
				t.Fatal(err)
			}
		})
	}
	remember := func(d *driver) {
		opt := Options{Config: Config{Pane: lastPane}, LastPane: file}
		opt.savePane(t.Context(), d.m)
	}
	open(tree, "").sees("›2 Topology")
	open(loops, "").sees("›1 Problems")
	open(loops, "pane load").sees("›6 Load", "1 Problems!")
	remember(open(tree, "pane last").sees("›2 Topology"))
	remember(open(loops, "pane last").sees("›1 Problems"))
	if _, err := os.Stat(file); err == nil {
		t.Error("the file names a pane that the user did not choose")
	}
	remember(open(tree, "pane what-if"))
	remember(open(loops, "pane last").sees("›5 What-if"))
	open(loops, "pane last").sees("›5 What-if")
	remember(open(loops, "pane last").press("1").sees("›1 Problems"))
	open(tree, "pane last").sees("›1 Problems")
	for text, want := range map[string]string{
		"\npane nothing":      `f:2: unknown pane "nothing", expected one of Problems, `,
		"pane LFT\npane load": "f:2: pane is defined twice",
	} {
		if _, err := ReadConfig(strings.NewReader(text), "f", nil); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("theme light\nkey sweep = F5\n")
	f.Add("pane last\n")
	f.Add("key quit = \x00\nkey a=b")
	f.Add("columns Load = paths, FROM\ncolumns LFT = ,")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadConfig(strings.NewReader(text), "f", nil)
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%v names no line", err)
		}
		for name, keys := range c.Keys {
			for _, k := range keys {
				if k == "" {
					t.Errorf("%s has an empty key", name)
				}
			}
		}
	})
}

// TestTable sorts by every column of every list, filters, marks and exports, in a what-if with new routes.
func TestTable(t *testing.T) {
	d := traced(t)
	d.press("f", "r").size(200, 50)
	for pane := range d.m.all {
		d.m.setFocus(pane)
		d.size(200, 50)
		l := d.m.pane()
		for range max(len(l.Base().Kinds), 1) {
			d.settle()
			n := l.Base().N
			for range 2 * len(l.Base().Cols) {
				d.press("s")
			}
			if l.Base().N != n {
				t.Errorf("%s: %d rows, %d once they were sorted", l.About().Name, n, l.Base().N)
			}
			lines := make([]int, l.Base().N)
			for i := range lines {
				lines[i] = i
			}
			if text := l.Base().PlainText(lines, true); strings.Count(text, "\n") != n+1 {
				t.Errorf("%s: %d rows, as text:\n%s", l.About().Name, n, text)
			}
			if _, err := l.Base().JSONText(lines); err != nil {
				t.Error(err)
			}
			if _, err := l.Base().CSVText(lines); err != nil {
				t.Error(err)
			}
			d.press("m", "m", "M", "/", "zzz", "esc", "b")
		}
	}
}
