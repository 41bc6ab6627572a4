# Reads everything below an address with the generated client, and prints it as JSON.
use Mojo::Base -strict;
use Mojo::JSON 'encode_json';
use Mojo::Util 'url_unescape';
use OpenAPI::Client;

my ($document, $origin) = @ARGV;
my $address = 'local/acme/tools@feature%2Fx/a%20b';
my $client  = OpenAPI::Client->new("file://$document", base_url => $origin);

# The description of the parameter says so: an address is inserted as it is, not encoded as one text.
$client->on(after_build_tx => sub {
  my (undef, $tx) = @_;
  my @segments = map { url_unescape $_ } split m{/}, $tx->req->url->path->to_string;
  $tx->req->url->path(Mojo::Path->new('/' . join '/', @segments));
});

# What is wrong with an answer, by the description of its endpoint.
sub problems {
  my ($path, $res, $json) = @_;
  return $client->validator->validate_response(
    [get => "/api/v1/$path", $res->code],
    {
      body   => sub { return {exists => 1, value => $json, content_type => 'application/json'} },
      header => sub { my $value = $res->headers->header(shift); return {exists => defined $value, value => $value} },
    }
  );
}

sub ask {
  my ($name, $path, %query) = @_;
  my %subject  = $path =~ /address/ ? (address => $address) : ();
  my $res      = $client->call($name => {%subject, %query})->res;
  my @problems = problems($path, $res, $res->json);
  die "$name: $res->{code} @problems" if @problems;
  die "$name: an empty answer is no problem" if !problems($path, $res, {});
  return $res->json;
}

sub pages {
  my ($name, %query) = @_;
  my @pages = (ask($name, "$name/{address}", %query));
  push @pages, ask($name, "$name/{address}", %query, cursor => $pages[-1]{nextCursor}) while $pages[-1]{nextCursor};
  return @pages;
}

my $mount  = ask(mounts => 'mounts/{address}');
my $file   = ask(files  => 'files/{address}', path  => 'a b/three & four.md');
my $found  = ask(find   => 'find/{address}',  query => 'read everything');
my @skills = pages(skills => path => 'a b/one/SKILL.md');
print encode_json({
  featured => scalar @{ask(featured => 'featured')->{items}},
  mount    => [@$mount{qw(address ref commit)}, $mount->{index}{status}],
  entries  => [sort map { $_->{path} } map { @{$_->{entries}} } pages(browse => limit => 2)],
  found    => $found->{items}[0]{path},
  rules    => join('', map { $_->{content} } map { @{$_->{skill}{ruleChain}} } @skills),
  file     => $file->{content},
  missing  => ask(files => 'files/{address}', path => 'a b/none.md')->{error}{code},
  refused  => ask(files => 'files/{address}', path => '../x')->{error}{code},
});
