// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// documents returns the Markdown files of the repository with their text, by their path from its root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		found[strings.TrimPrefix(filepath.ToSlash(path), "../")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// codeBlock is a code block of a document: between fences, or indented by four spaces.
type codeBlock struct {
	language string // the info string of the fence, "" for an indented block
	text     string // lines, each with its newline
}

func (b codeBlock) firstLine() string {
	line, _, _ := strings.Cut(b.text, "\n")
	return line
}

// codeBlocks returns the code blocks of a document by sections 4.4 and 4.5 of CommonMark 0.31.2, without those in lists
// or quotations.
func codeBlocks(text string) []codeBlock {
	var blocks []codeBlock
	fenced, indented, blank := false, false, true
	for line := range strings.Lines(text) {
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		within, deep := strings.CutPrefix(line, "    ")
		last := len(blocks) - 1
		switch {
		case fence:
			if fenced = !fenced; fenced {
				blocks = append(blocks, codeBlock{language: language})
			}
		case fenced:
			blocks[last].text += line
		case deep && indented:
			blocks[last].text += within
		case deep && blank:
			indented = true
			blocks = append(blocks, codeBlock{text: within})
		default:
			indented = false
		}
		blank = strings.TrimSpace(line) == ""
	}
	return blocks
}

// TestDocuments runs the commands after "$ " in the console blocks of documents, those of a document in one folder and
// in order, and
// compares their output with the text below them. There "..." stands for anything on a line, and a line "..." for any
// number of lines. A block that is not a console block must be listed in notRun, with the reason.
func TestDocuments(t *testing.T) {
	seen := map[[2]string]bool{}
	for name, text := range documents(t) {
		var steps []string
		for _, block := range codeBlocks(text) {
			if block.language == "console" {
				steps = append(steps, strings.Split("\n"+block.text, "\n$ ")[1:]...)
				continue
			}
			place := [2]string{name, block.firstLine()}
			if notRun[place] == "" {
				place[1] = ""
			}
			if notRun[place] == "" {
				t.Errorf("%s: the block that begins with %q is neither a console block nor one of notRun", name,
					block.firstLine())
			}
			seen[place] = true
		}
		if len(steps) > 0 {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				shows(t, steps)
			})
		}
	}
	for place := range notRun {
		if !seen[place] {
			t.Errorf("%s no longer has a block that begins with %q", place[0], place[1])
		}
	}
}

// TestDependencies checks that the list of dependencies has the modules and versions of go.mod.
func TestDependencies(t *testing.T) {
	list := documents(t)["docs/dependencies.md"]
	modules, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	direct := 0
	for line := range strings.Lines(string(modules)) {
		words := strings.Fields(line)
		if len(words) < 2 || !strings.Contains(words[0], "/") {
			continue
		}
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(words[0]) + ` \| \w+ \| [^|]+ \| ([^ ]+) \|`)
		isDirect := len(words) == 2
		switch found := row.FindStringSubmatch(list); {
		case found == nil && isDirect:
			t.Errorf("docs/dependencies.md lacks %s: run 'make dependencies'", words[0])
		case found != nil && found[1] != words[1]:
			t.Errorf("docs/dependencies.md has %s %s, go.mod %s: run 'make dependencies'", words[0], found[1], words[1])
		case isDirect:
			direct++
		}
	}
	if direct < 10 {
		t.Errorf("%d direct dependencies were compared", direct)
	}
}

// TestRepeatingCommands checks that the commands that repeat trials name tests of their package.
func TestRepeatingCommands(t *testing.T) {
	command := regexp.MustCompile("`go test (\\./[\\w/]+) -run '?([\\w|\\\\]+)'?`")
	found := command.FindAllStringSubmatch(documents(t)["docs/reliability.md"], -1)
	if len(found) < 30 {
		t.Errorf("%d commands", len(found))
	}
	for _, c := range found {
		files, err := filepath.Glob(filepath.Join("..", c[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source strings.Builder
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
		for name := range strings.SplitSeq(strings.ReplaceAll(c[2], `\`, ""), "|") {
			if !strings.Contains(source.String(), "func "+name+"(") {
				t.Errorf("%s has no test %s", c[1], name)
			}
		}
	}
}

// TestDocumentLinks follows the links between documents.
func TestDocumentLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+\.\w+)`)
	for name, text := range documents(t) {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", filepath.Dir(name), found[1])); err != nil {
				t.Errorf("%s has a link to %s: %v", name, found[1], err)
			}
		}
	}
}

// TestSources checks that the tests that docs/sources.md cites for its claims exist.
func TestSources(t *testing.T) {
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Benchmark)\\w+)`")
	for line := range strings.SplitSeq(read(t, "../docs/sources.md"), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || cells[0] == "| section" {
			continue
		}
		proofs := named.FindAllStringSubmatch(cells[3], -1)
		if len(proofs) == 0 {
			t.Errorf("no test proves %q", cells[1])
		}
		for _, m := range proofs {
			if !tests[m[1]] {
				t.Errorf("%s proves %q, but there is no such test", m[1], cells[1])
			}
		}
	}
}

// shows runs commands in a new folder and compares the output of each with the document.
func shows(t *testing.T, steps []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "ibconsole")); err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		command, want, _ := strings.Cut(step, "\n")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, "bash", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, ".state"))
		got, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Errorf("$ %s: %v", command, err)
		}
		if want = strings.TrimSuffix(want, "\n"); !shownAs(want).MatchString(strings.TrimSuffix(string(got), "\n")) {
			t.Errorf("$ %s\nthe document shows:\n%s\nthe program prints:\n%s", command, want, got)
		}
	}
}

// shownAs makes a pattern of the output in a document.
func shownAs(shown string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(shown)
	pattern = regexp.MustCompile(`(?m)^\\\.\\\.\\\.$`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, `\.\.\.`, `.*`)
	return regexp.MustCompile(`^` + pattern + `$`)
}

// notRun lists the blocks that no test runs: the document, the first line or "" for all others, and the reason.
var notRun = map[[2]string]string{
	{"docs/recording.md", "tls_server_config:"}: "a file with certificates: TestAccess reads such a file",
	{
		"README.md", "go run .        # opens the console; without InfiniBand, on a simulated fat-tree with 648 hosts",
	}: "starts a screen, and all tests",
	{
		"README.md", "apt install ./ibconsole-*.deb       # Debian, Ubuntu",
	}: "installs a package: make try-packages does",
	{"ARCHITECTURE.md", ""}:  "drawings and lists",
	{"docs/cookbook.md", ""}: "TestCookbook runs them",
	{
		"docs/ibdiagnet.md", "ibconsole -c 'ibdiagnet diff /var/diag/sunday /var/diag/monday'",
	}: "reads folders of the user",
	{
		"docs/ibdiagnet.md", "ibconsole -c 'forecast /var/diag since=30d'",
	}: "reads folders of the user",
	{"docs/pathdb.md", "paths build records"}:                             "commands without a subnet",
	{"docs/nue.md", "engine nue"}:                                         "commands without a subnet",
	{"docs/site.md", "source umad:mlx5_0:1"}:                              "a configuration",
	{"docs/site.md", "journalctl SYSLOG_IDENTIFIER=ibconsole -o verbose"}: "reads the journal of the machine",
	{
		"CONTRIBUTING.md", "make check    # formatting, linter (with vet), go.mod, and the tests that start no other " +
			"program: while you work",
	}: "would run this test",
	{
		"SECURITY.md", "gpg --import ibconsole.asc",
	}: "needs a release and its key: make try-packages signs with one of its own",
	{
		"docs/install.md", "$ apt install ./ibconsole-*.deb",
	}: "installs a package: make try-packages does",
	{
		"docs/keys.md", "theme light",
	}: "a configuration",
	{
		"docs/ibdiagnet.md", "ibconsole -s ibdiagnet:case-4711.tar.gz -c 'summary; problems; check reach; check load'",
	}: "wants folders that ibdiagnet left",
	{
		"docs/congestion.md", "why 4711 in live, from 03:00:00 to 04:00:00: 8 hosts, 6 windows, 1 finding",
	}: "needs a recording of hours",
	{
		"docs/recording.md", "record start                          in a session; record stop, record status",
	}: "runs until it is ended",
	{
		"docs/recording.md", "problems since=yesterday                      each problem with its beginning and end",
	}: "needs a recording of hours",
	{"docs/recording.md", "ibconsole record smlog=/var/log/opensm.log"}:              "runs until it is ended",
	{"docs/recording.md", "ibconsole record hosts=/run/jobs"}:                        "runs until it is ended",
	{"docs/recording.md", "ibconsole record exec='/usr/local/sbin/page-oncall'"}:     "runs until it is ended",
	{"docs/recording.md", "report incident incident.tar.gz since=03:00 until=03:20"}: "needs a recording of hours",
	{
		"docs/recording.md", "ibconsole -s file:incident.tar.gz            the state after",
	}: "needs the archive of an incident",
}
