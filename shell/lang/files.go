// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFolder bounds how many names of a directory Files looks at.
const maxFolder = 10_000

// Files returns the paths that begin with prefix, directories with a '/' at
// their end, sorted; nothing where the directory cannot be read.
// Hidden files need their dot. Names that are not printable text are left out, for
// they could not be shown as they are. It suits KindFile in an Env.
func Files(prefix string) []Candidate {
	folder, base := filepath.Split(prefix)
	where := folder
	if where == "" {
		where = "."
	}
	f, err := os.Open(where)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxFolder)
	var found []Candidate
	for _, e := range entries {
		name := e.Name()
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".")
		if hidden || !strings.HasPrefix(name, base) || !printable(name) {
			continue
		}
		if isFolder(where, e) {
			name += "/"
		}
		found = append(found, Candidate{Text: folder + name})
	}
	slices.SortFunc(found, func(a, b Candidate) int { return strings.Compare(a.Text, b.Text) })
	return found
}

func isFolder(where string, e os.DirEntry) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(where, e.Name()))
	return err == nil && info.IsDir()
}

func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
