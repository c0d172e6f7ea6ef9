#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# conf.pl CONFIG.C CARREFOUR.CONF: carrefour.conf(5) as POD. Ranges are from the table, all else is from the file.
use strict;
use warnings;

my ($table, $conf) = @ARGV;
my %range;
open(my $c, '<', $table) or die "$table: $!\n";
while (<$c>) {
	$range{$1} = [ $2, $3 ] if /\tSETTING\((\w+), \d+, (\d+), (\w+)\)/;
}
close($c);
# Bounds that have a name in config.h.
(my $header = $table) =~ s/\.c$/.h/;
open(my $h, '<', $header) or die "$header: $!\n";
my %named = map { /^#define (\w+_MAX) (\d+)/ ? ($1, $2) : () } <$h>;
close($h);

sub escaped {
	my ($text) = @_;
	$text =~ s/</E<lt>/g;
	$text =~ s/(?<!E<lt)>/E<gt>/g;
	$text =~ s/`([^`]*)`/C<$1>/g;
	# A setting in a sentence.
	$text =~ s/\b([a-z]+(?:_[a-z]+)+)\b/exists $range{$1} ? "C<$1>" : $1/ge;
	return $text;
}

my ($open, @text, @keys, @intro) = (0);

sub flush_item {
	return unless @keys;
	print "=over 4\n\n" unless $open;
	$open = 1;
	for (@keys) {
		my ($key, $value) = @$_;
		my $limits = $range{$key};
		my $bounds = $limits ? ", from $limits->[0] to " . ($named{$limits->[1]} // $limits->[1]) : "";
		my $default = $key eq 'metrics' ? "such as I<$value>; by default there is none" : "by default I<$value>$bounds";
		print "=item B<$key>: $default\n\n";
	}
	print escaped(join("\n", @text)), "\n\n";
	@text = @keys = ();
}

print <<'END';
=encoding utf8

=head1 NAME

carrefour.conf - configuration of carrefourd

=head1 DESCRIPTION

carrefourd(8) reads F</etc/xen/carrefour.conf> when it starts, and again at SIGHUP: run C<systemctl
reload carrefourd> after a change. A line is B<KEY = VALUE>, or empty, or begins with C<#>. You may
set each setting once. carrefourd refuses a line that it does not understand, names the file and the
line, and says what would be right. C<carrefourd --check-config> says whether the file is right.

END

open(my $f, '<', $conf) or die "$conf: $!\n";
my $begun = 0;
while (<$f>) {
	chomp;
	next if /SPDX/;
	if (/^# (\w+) = (\S+)$/) {
		push @keys, [ $1, $2 ];
	} elsif (/^# (.+)$/) {
		flush_item();
		push @text, $1;
	} else {
		flush_item();
		if (@text && $begun) {
			print "=back\n\n" if $open;
			$open = 0;
			print "=head1 ", uc("@text"), "\n\n";
		} elsif (@text) {
			# What the file says of itself, a man page need not; of its sources it has to.
			print escaped(join("\n", @text)), "\n\n" if $text[0] =~ /^Sources/;
		}
		$begun = 1 if $_ eq '';
		@text = ();
	}
}
flush_item();
print "=back\n\n" if $open;
close($f);

print <<'END';
=head1 FILES

F</etc/xen/carrefour.conf>

=head1 SEE ALSO

carrefourd(8), carrefour-replay(1), xl-numa-policy(1)
END
