// SPDX-License-Identifier: Apache-2.0
//
// A file system with the file "stalled", whose reads are never answered, and "mute", of
// which nothing is: as a server that is gone, or a program that hangs.
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int get_attr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	memset(st, 0, sizeof *st);
	if (!strcmp(path, "/")) {
		st->st_mode = S_IFDIR | 0755;
		st->st_nlink = 2;
		return 0;
	}
	while (!strcmp(path, "/mute"))
		pause();
	if (strcmp(path, "/stalled"))
		return -ENOENT;
	st->st_mode = S_IFREG | 0444;
	st->st_nlink = 1;
	st->st_size = 4096;
	return 0;
}

static int open_file(const char *path, struct fuse_file_info *fi)
{
	fi->direct_io = 1;
	return strcmp(path, "/stalled") ? -ENOENT : 0;
}

static int read_file(const char *path, char *buf, size_t size, off_t at, struct fuse_file_info *fi)
{
	(void)path, (void)buf, (void)size, (void)at, (void)fi;
	for (;;)
		pause();
}

static const struct fuse_operations operations = {
	.getattr = get_attr, .open = open_file, .read = read_file,
};

int main(int argc, char **argv)
{
	return fuse_main(argc, argv, &operations, NULL);
}
