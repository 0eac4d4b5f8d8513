// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"strings"
	"unicode"

	"example.org/ibconsole/internal/base/prose"
)

// maxNameEnd is the maximum length of the end of a name that [Cut] keeps.
const maxNameEnd = len(" (0x0123456789abcdef)/255")

// Cut shortens clean text to at most w cells, with a mark where characters are missing. Of a sentence, the end is
// missing; of a name, the middle. The number of a port at the end of a name is kept, and so is the GUID, which names
// have if several nodes have one description. Of the name of an adapter, such as "node-0001 HCA-1", the host remains.
func Cut(s string, w int, mark string) string { return cut(s, w, mark, false) }

// CutMiddle shortens clean text as [Cut] does, and takes it for a name.
func CutMiddle(s string, w int, mark string) string { return cut(s, w, mark, true) }

func cut(s string, w int, mark string, isName bool) string {
	if len(s) <= w && prose.Plain(s) || Width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	end := strings.LastIndex(s, " (0x")
	if end <= 0 || len(s)-end > min(maxNameEnd, w-2) {
		end = portAt(s)
	}
	if end > 0 && len(s)-end <= w-2 {
		return cut(s[:end], w-(len(s)-end), mark, isName) + s[end:]
	}
	host, adapter, blank := strings.Cut(s, " ")
	if blank && isAdapter(adapter) {
		if left := w - Width(mark); Width(host) <= left {
			return host + mark
		}
		return cut(host, w, mark, true)
	}
	isName = isName || end < 0 && prose.Plain(s) && (!blank || isUnit(adapter))
	if left := w - Width(mark); isName && left >= 4 {
		tail := Skip(s, Width(s)-left/2)
		return head(s, left-Width(tail)) + mark + tail
	}
	return head(s, w-1) + mark
}

// head returns the beginning of clean text that fits into w cells.
func head(s string, w int) string {
	for i, r := range s {
		if w -= Cells.RuneWidth(r); w < 0 {
			return s[:i]
		}
	}
	return s
}

// isAdapter reports whether a text is the name that a driver gives to an adapter.
func isAdapter(text string) bool {
	return !strings.Contains(text, " ") && (strings.HasPrefix(text, "HCA-") || strings.HasPrefix(text, "mlx"))
}

// isUnit reports whether the second part of a name is that of a part of a director, such as L01/U1.
func isUnit(word string) bool {
	return word != "" && !strings.Contains(word, " ") && unicode.IsUpper(rune(word[0])) &&
		strings.ContainsAny(word, "0123456789")
}

// nameBlanks is the number of blanks up to which a text may be the name of a port. A text with more is a sentence.
const nameBlanks = 3

// portAt returns the index of the slash before the port number at the end of a name, or -1 if there is none.
func portAt(s string) int {
	at := strings.LastIndexByte(s, '/')
	if strings.Count(s, " ") > nameBlanks {
		return -1
	}
	if at < 0 || at+1 == len(s) || len(s)-at > len("/255") || strings.Trim(s[at+1:], "0123456789") != "" {
		return -1
	}
	return at
}

const (
	leastPrefix = 8 // cells of a beginning of names that is long
	leastNames  = 4 // that share it
)

// Prefix returns the long beginning that nearly all names share, such as that of a cluster, or "". The names are in
// the order of [prose.Natural]. The beginning ends behind a border of words.
func Prefix(names []string) string {
	n := len(names)
	if n < leastNames {
		return ""
	}
	first, last := names[n/20], names[n-1-n/20]
	k := 0
	for k < min(len(first), len(last)) && first[k] == last[k] && first[k] < 0x80 {
		k++
	}
	if k = strings.LastIndexAny(first[:k], "-_.:/ ") + 1; k < leastPrefix {
		return ""
	}
	return first[:k]
}

// PutName writes a name into exactly w cells. A long beginning that it shares with most names is dim, or left out if
// there is no space for it.
func (p *Pen) PutName(st Style, name string, w int, shared []string) {
	name = Clean(name, p.ASCII)
	w = max(min(w, p.Left), 0)
	dim := 0
	for _, s := range shared {
		if s != "" && strings.HasPrefix(name, s) && len(name) > len(s) {
			dim = len(s)
			if Width(name) > w {
				name, dim = p.Ellipsis+name[dim:], len(p.Ellipsis)
			}
			break
		}
	}
	begin := name[:dim]
	if name = Cut(name, w, p.Ellipsis); !strings.HasPrefix(name, begin) || st != "" {
		dim = 0
	}
	p.Left -= w
	p.raw(p.Dim, name[:dim])
	p.raw(st, name[dim:])
	p.raw("", Spaces(w-Width(name)))
}

// Common returns the lengths of the beginning and of the end that all names have in common. They end at a border of
// words, and leave at least one character of each name. Empty names do not count.
func Common(names []string) (head, tail int) {
	first := ""
	for _, n := range names {
		switch {
		case n == "":
			continue
		case first == "":
			first, head, tail = n, len(n)-1, len(n)-1
			continue
		}
		i := 0
		for i < min(head, len(n)-1) && n[i] == first[i] {
			i++
		}
		head = i
		j := 0
		for j < min(tail, len(n)-1-head) && n[len(n)-1-j] == first[len(first)-1-j] {
			j++
		}
		tail = j
	}
	isPart := func(c byte) bool { return c >= '0' && c <= '9' || c >= 0x80 }
	for head > 0 && isPart(first[head-1]) {
		head--
	}
	tail = min(tail, len(first)-1-head)
	for tail > 0 && isPart(first[len(first)-tail]) {
		tail--
	}
	return head, tail
}
