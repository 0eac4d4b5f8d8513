// SPDX-License-Identifier: Apache-2.0

package draw

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
