// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// diskCall is a system call that changed or bound the content of a file, in the order in which they returned.
type diskCall struct {
	name string
	path string // "" for standard output
	to   string // of a rename
	at   int    // of a write and of a truncation
	data []byte
}

var (
	tracedCall = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`)
	tracedPath = regexp.MustCompile(`^\d+<([^>]*)>`)
	quoted     = regexp.MustCompile(`"([^"]*)"`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)`)
)

// unhex decodes a string that strace -xx wrote.
func unhex(text string) string {
	var b strings.Builder
	for h := range strings.SplitSeq(text, `\x`) {
		if n, err := strconv.ParseUint(h, 16, 8); err == nil {
			b.WriteByte(byte(n))
		}
	}
	return b.String()
}

// diskCalls returns the calls in a log of strace -f -y -xx for files below a folder and for standard output.
func diskCalls(log, dir string) (calls []diskCall, err error) {
	begun := map[string]string{}
	offset := map[string]int{} // of the descriptor of a file, by path: no file here is written through two at once
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutSuffix(line, " <unfinished ...>"); ok {
			begun[strings.Fields(line)[0]] = head
			continue
		}
		if m := resumed.FindStringSubmatch(line); m != nil {
			line = begun[m[1]] + m[2]
		}
		m := tracedCall.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[4], "-") {
			continue
		}
		c, args, result := diskCall{name: m[2]}, m[3], m[4]
		strs := quoted.FindAllStringSubmatch(args, -1)
		if p := tracedPath.FindStringSubmatch(args); p != nil {
			c.path = unhex(p[1])
		}
		last := args[strings.LastIndexByte(args, ' ')+1:]
		switch c.name {
		case "open", "openat":
			c.name = "openat"
			c.path = unhex(strs[0][1])
			offset[c.path] = 0
			if !strings.Contains(args, "O_CREAT") {
				continue
			}
		case "unlink", "unlinkat":
			c.path = unhex(strs[0][1])
		case "renameat":
			c.path, c.to = unhex(strs[0][1]), unhex(strs[1][1])
		case "write":
			c.data = []byte(unhex(strs[0][1]))
			c.at = offset[c.path]
			offset[c.path] += len(c.data)
			if strings.HasPrefix(args, "1<") {
				c.path = ""
			}
		case "pwrite64":
			c.data = []byte(unhex(strs[0][1]))
			c.at, err = strconv.Atoi(last)
		case "ftruncate":
			c.at, err = strconv.Atoi(last)
		}
		if n, _ := strconv.Atoi(result); err != nil || c.data != nil && n != len(c.data) {
			return nil, fmt.Errorf("line %.80q: %d bytes, %w", line, len(c.data), err)
		}
		if (c.path == "" || strings.HasPrefix(c.path, dir)) && !strings.HasSuffix(c.path, "-shm") { // which is memory
			calls = append(calls, c)
		}
	}
	return calls, nil
}

const sector = 512 // is written completely or not at all

// diskAfter returns a possible content of a file system after a power failure behind a number of calls. Writes to a
// file before its last fsync are there. Each sector written later is there or not. Folders change in the order of
// calls, and all changes before any fsync are there, as in the journal of ext4 and xfs.
func diskAfter(r *rand.Rand, calls []diskCall) map[string][]byte {
	type file struct {
		data   []byte
		synced int
	}
	folder := 0 // the number of calls whose changes of folders are permanent
	synced := map[int]int{}
	number, now := map[string]int{}, 0 // of files, independent of their names
	of := make([]int, len(calls))
	for i, c := range calls {
		switch c.name {
		case "openat":
			if _, there := number[c.path]; !there {
				now++
				number[c.path] = now
			}
		case "renameat":
			number[c.to] = number[c.path]
			delete(number, c.path)
		case "unlink", "unlinkat":
			delete(number, c.path)
		case "fsync", "fdatasync":
			synced[number[c.path]], folder = i, i
		}
		of[i] = number[c.path]
	}
	folder += r.IntN(len(calls) - folder + 1)
	files, names := map[int]*file{}, map[string]int{}
	for i, c := range calls {
		f := files[of[i]]
		if f == nil {
			f = &file{synced: synced[of[i]]}
			files[of[i]] = f
		}
		switch c.name {
		case "openat":
			if i < folder || i < f.synced {
				names[c.path] = of[i]
			}
		case "renameat":
			if n, there := names[c.path]; there && i < folder {
				names[c.to] = n
				delete(names, c.path)
			}
		case "unlink", "unlinkat":
			if i < folder {
				delete(names, c.path)
			}
		case "ftruncate":
			if i < f.synced || r.IntN(2) == 0 {
				f.data = append(f.data, make([]byte, max(0, c.at-len(f.data)))...)[:c.at]
			}
		case "write", "pwrite64":
			if c.path != "" {
				f.data = putSectors(r, f.data, &c, i < f.synced)
			}
		}
	}
	disk := map[string][]byte{}
	for name, n := range names {
		disk[name] = files[n].data
	}
	return disk
}

// putSectors writes all sectors, or a random part of the sectors that are not yet bound to be there.
func putSectors(r *rand.Rand, data []byte, c *diskCall, bound bool) []byte {
	how := r.IntN(3) // none, all or some
	for from := 0; from < len(c.data); {
		to := min(len(c.data), from+sector-(c.at+from)%sector)
		if bound || how == 1 || how == 2 && r.IntN(2) == 0 {
			data = append(data, make([]byte, max(0, c.at+to-len(data)))...)
			copy(data[c.at+from:], c.data[from:to])
		}
		from = to
	}
	return data
}

// put writes the files of a disk below another folder.
func put(disk map[string][]byte, from, to string) error {
	for name, data := range disk {
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		path := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, slices.Clone(data), 0o600); err != nil {
			return err
		}
	}
	return nil
}
